//! Times in formats: the conversions of strftime(3).

use time::{OffsetDateTime, UtcOffset};

/// The current time, in the time zone of the client.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Seconds since 1970.
    pub now: i64,
    /// Seconds east of UTC.
    pub offset: i32,
}

const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl Clock {
    fn at(&self, seconds: i64) -> OffsetDateTime {
        let offset = UtcOffset::from_whole_seconds(self.offset).unwrap_or(UtcOffset::UTC);
        let time = OffsetDateTime::from_unix_timestamp(seconds);
        time.unwrap_or(OffsetDateTime::UNIX_EPOCH).to_offset(offset)
    }

    /// Replaces the conversions in a format by the current time.
    pub fn format_now(&self, format: &str) -> String {
        self.format(self.now, format)
    }

    /// Replaces the conversions in a format by a time, in seconds since 1970. Unknown conversions stay.
    pub fn format(&self, seconds: i64, format: &str) -> String {
        let time = self.at(seconds);
        let mut out = String::new();
        let mut chars = format.chars();
        while let Some(char) = chars.next() {
            if char != '%' {
                out.push(char);
                continue;
            }
            match chars.next() {
                Some(conversion) => match self.convert(&time, conversion) {
                    Some(text) => out.push_str(&text),
                    None => out.extend(['%', conversion]),
                },
                None => out.push('%'),
            }
        }
        out
    }

    fn convert(&self, time: &OffsetDateTime, conversion: char) -> Option<String> {
        let day = DAYS[usize::from(time.weekday().number_days_from_sunday())];
        let month = MONTHS[usize::from(u8::from(time.month())) - 1];
        let (hour, twelve) = (time.hour(), (time.hour() + 11) % 12 + 1);
        let half = if hour < 12 { "AM" } else { "PM" };
        let nested = |format: &str| self.format(time.unix_timestamp(), format);
        Some(match conversion {
            'a' => day[..3].to_owned(),
            'A' => day.to_owned(),
            'b' | 'h' => month[..3].to_owned(),
            'B' => month.to_owned(),
            'c' => nested("%a %b %e %H:%M:%S %Y"),
            'C' => format!("{:02}", time.year() / 100),
            'd' => format!("{:02}", time.day()),
            'D' | 'x' => nested("%m/%d/%y"),
            'e' => format!("{:2}", time.day()),
            'F' => nested("%Y-%m-%d"),
            'H' => format!("{hour:02}"),
            'I' => format!("{twelve:02}"),
            'j' => format!("{:03}", time.ordinal()),
            'k' => format!("{hour:2}"),
            'l' => format!("{twelve:2}"),
            'm' => format!("{:02}", u8::from(time.month())),
            'M' => format!("{:02}", time.minute()),
            'n' => "\n".to_owned(),
            'p' => half.to_owned(),
            'P' => half.to_lowercase(),
            'r' => nested("%I:%M:%S %p"),
            'R' => nested("%H:%M"),
            's' => time.unix_timestamp().to_string(),
            'S' => format!("{:02}", time.second()),
            't' => "\t".to_owned(),
            'T' | 'X' => nested("%H:%M:%S"),
            'u' => time.weekday().number_from_monday().to_string(),
            'w' => time.weekday().number_days_from_sunday().to_string(),
            'V' => format!("{:02}", time.iso_week()),
            'y' => format!("{:02}", time.year().rem_euclid(100)),
            'Y' => time.year().to_string(),
            'z' => {
                let (hours, minutes, _) = time.offset().as_hms();
                let sign = if self.offset < 0 { '-' } else { '+' };
                format!("{sign}{:02}{:02}", hours.abs(), minutes.abs())
            }
            '%' => "%".to_owned(),
            _ => return None,
        })
    }

    /// A time in few characters: the time of day, or a date. The older the date, the less detail it has.
    pub fn pretty(&self, seconds: i64) -> String {
        const DAY: i64 = 24 * 60 * 60;
        let age = self.now.saturating_sub(seconds.min(self.now));
        let (now, then) = (self.at(self.now), self.at(seconds));
        let is_same_month = now.year() == then.year() && now.month() == then.month();
        let format = if age < DAY {
            "%H:%M"
        } else if is_same_month || age < 28 * DAY {
            "%a%d"
        } else if age < 365 * DAY {
            "%d%b"
        } else {
            "%h%y"
        };
        self.format(seconds, format)
    }
}
