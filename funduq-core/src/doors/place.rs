//! The place of an event in its stream, by which a caller that lost the stream names what it has.

/// Reads a place, `{run}:{number}`: the run, as it is named there, and the number. `None` for what no stream carries as an
/// event's id, such as another spelling of a number.
#[must_use]
pub fn read_place(place: &str) -> Option<(&str, u64)> {
    let (run, digits) = place.rsplit_once(':')?;
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some((run, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written_and_no_otherwise() {
        assert_eq!(read_place("r:0"), Some(("r", 0)));
        assert_eq!(read_place("a:b:18446744073709551615"), Some(("a:b", u64::MAX)));
        for wrong in
            ["", "r", "r:", "1", "r:+1", "r:01", "r:-1", "r: 1", "r:1 ", "r:x", "r:18446744073709551616"]
        {
            assert_eq!(read_place(wrong), None, "{wrong}");
        }
    }
}
