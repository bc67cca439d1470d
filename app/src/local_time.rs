//! The local time, for file names and texts in the window.

use std::sync::OnceLock;

use time::{OffsetDateTime, UtcOffset, macros::format_description};

static OFFSET: OnceLock<UtcOffset> = OnceLock::new();

/// Reads the offset of the local time zone. Must be called before threads are started, because the C library may
/// change its time zone data while other threads read them.
pub fn read_zone() {
    let _ = OFFSET.set(UtcOffset::current_local_offset().unwrap_or(UtcOffset::UTC));
}

/// The current time in the form `20261122_041500_123`. In UTC if the time zone is unknown.
pub(crate) fn stamp() -> String {
    let now = OffsetDateTime::now_utc().to_offset(*OFFSET.get().unwrap_or(&UtcOffset::UTC));
    let format =
        format_description!("[year][month][day]_[hour][minute][second]_[subsecond digits:3]");
    now.format(&format).unwrap_or_default()
}

/// A time of day, such as `14:03:07`. If the time is not today, the date is added. The time is given in milliseconds
/// since 1970.
pub(crate) fn of_day(milliseconds: u64) -> Option<String> {
    let offset = *OFFSET.get().unwrap_or(&UtcOffset::UTC);
    let nanoseconds = i128::from(milliseconds) * 1_000_000;
    let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok()?.to_offset(offset);
    let is_today = time.date() == OffsetDateTime::now_utc().to_offset(offset).date();
    let text = match is_today {
        true => time.format(format_description!("[hour]:[minute]:[second]")),
        false => time.format(format_description!("[year]-[month]-[day] [hour]:[minute]:[second]")),
    };
    text.ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_time_of_another_day_has_its_date() {
        assert_eq!(super::of_day(1_000).as_deref(), Some("1970-01-01 00:00:01"));
    }

    #[test]
    fn a_stamp_is_sortable_and_a_file_s_name() {
        let stamp = super::stamp();
        let parts: Vec<_> = stamp.split('_').map(str::len).collect();
        assert_eq!(parts, [8, 6, 3]);
        assert!(stamp.chars().all(|c| c.is_ascii_digit() || c == '_'));
    }
}
