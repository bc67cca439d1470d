//! The local time, for file names.

use std::sync::OnceLock;

use time::{OffsetDateTime, UtcOffset, macros::format_description};

static OFFSET: OnceLock<UtcOffset> = OnceLock::new();

/// Reads the zone's offset. Call it before starting threads: the C library may change its zone while other threads read
/// it.
pub fn read_zone() {
    let _ = OFFSET.set(UtcOffset::current_local_offset().unwrap_or(UtcOffset::UTC));
}

/// The current time as `20261122_041500_123`, in UTC if the zone is unknown.
pub(crate) fn stamp() -> String {
    let now = OffsetDateTime::now_utc().to_offset(*OFFSET.get().unwrap_or(&UtcOffset::UTC));
    let format =
        format_description!("[year][month][day]_[hour][minute][second]_[subsecond digits:3]");
    now.format(&format).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_stamp_is_sortable_and_a_file_s_name() {
        let stamp = super::stamp();
        let parts: Vec<_> = stamp.split('_').map(str::len).collect();
        assert_eq!(parts, [8, 6, 3]);
        assert!(stamp.chars().all(|c| c.is_ascii_digit() || c == '_'));
    }
}
