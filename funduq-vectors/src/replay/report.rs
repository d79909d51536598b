//! What a replay found, row by row.

/// The rows of one replay, in the file's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    rows: Vec<RowReport>,
}

/// One row of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowReport {
    /// The section of the file.
    pub section: &'static str,
    /// The row.
    pub name: String,
    /// What is wrong; `None` where nothing is.
    pub problem: Option<String>,
}

impl Report {
    pub(super) fn add(&mut self, section: &'static str, name: &str, outcome: Result<(), String>) {
        self.rows.push(RowReport { section, name: name.to_owned(), problem: outcome.err() });
    }

    /// Every row.
    pub fn rows(&self) -> &[RowReport] {
        &self.rows
    }

    /// The rows that the implementation gets wrong.
    pub fn problems(&self) -> impl Iterator<Item = &RowReport> {
        self.rows.iter().filter(|row| row.problem.is_some())
    }

    /// Ends a test.
    ///
    /// # Panics
    /// With every row that is wrong, or where there was no row at all.
    pub fn assert_clean(&self) {
        assert!(!self.rows.is_empty(), "the file has no rows");
        assert!(self.problems().next().is_none(), "{self}");
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} rows, {} wrong", self.rows.len(), self.problems().count())?;
        for row in self.problems() {
            let problem = row.problem.as_deref().unwrap_or_default();
            writeln!(f, "{} / {}: {problem}", row.section, row.name)?;
        }
        Ok(())
    }
}
