//! Paste buffers.

/// The maximum number of automatic buffers, as the option `buffer-limit` of tmux.
const MOST_AUTOMATIC: usize = 50;
/// The maximum number of buffers.
const MOST: usize = 500;
/// The maximum size of a buffer, in bytes.
const LARGEST: usize = 8 << 20;
/// The maximum size of all buffers together, in bytes.
const LARGEST_TOTAL: usize = 64 << 20;

/// A buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The name.
    pub name: String,
    /// The text.
    pub text: String,
    /// When the text was set, in seconds since 1970.
    pub created: i64,
    is_automatic: bool,
}

/// The buffers, the newest first.
#[derive(Default)]
pub struct Buffers {
    list: Vec<Buffer>,
    next: usize,
}

impl Buffers {
    /// The buffers, the newest first.
    pub fn list(&self) -> &[Buffer] {
        &self.list
    }

    /// The buffer with a name. Without a name, the newest automatic buffer.
    pub fn find(&self, name: Option<&str>) -> Option<&Buffer> {
        self.list.iter().find(|buffer| match name {
            Some(name) => buffer.name == name,
            None => buffer.is_automatic,
        })
    }

    /// Sets the text of a buffer. Without a name, creates an automatic buffer. If there are too many buffers, or they
    /// are too large together, the oldest automatic buffers are deleted.
    ///
    /// # Errors
    /// The text is too long, or the named buffers leave no room for it.
    pub fn set(&mut self, name: Option<&str>, text: String, now: i64) -> Result<(), String> {
        if text.len() > LARGEST {
            return Err(format!("buffer too large: at most {LARGEST} bytes"));
        }
        let is_kept = |it: &&Buffer| !it.is_automatic && Some(it.name.as_str()) != name;
        let kept: usize = self.list.iter().filter(is_kept).map(|it| it.text.len()).sum();
        if kept + text.len() > LARGEST_TOTAL {
            return Err(format!("buffers too large: at most {LARGEST_TOTAL} bytes together"));
        }
        let is_automatic = name.is_none();
        let name = name.map(str::to_owned).unwrap_or_else(|| {
            loop {
                let name = format!("buffer{}", self.next);
                self.next += 1;
                if self.find(Some(&name)).is_none() {
                    break name;
                }
            }
        });
        self.delete(&name);
        self.list.insert(0, Buffer { name, text, created: now, is_automatic });
        let automatic = self.list.iter().filter(|buffer| buffer.is_automatic).count();
        if automatic > MOST_AUTOMATIC || self.list.len() > MOST {
            let oldest = self.list.iter().rposition(|buffer| buffer.is_automatic);
            self.list.remove(oldest.unwrap_or(self.list.len() - 1));
        }
        let mut total: usize = self.list.iter().map(|it| it.text.len()).sum();
        while total > LARGEST_TOTAL {
            // The new text and the named buffers have room, so an older automatic buffer exists.
            let Some(oldest) = self.list.iter().rposition(|it| it.is_automatic) else { break };
            total -= self.list.remove(oldest).text.len();
        }
        Ok(())
    }

    /// Renames a buffer. It is then no automatic buffer. Returns false if no buffer has the name.
    pub fn rename(&mut self, old: &str, new: &str) -> bool {
        if self.find(Some(old)).is_none() {
            return false;
        }
        if old != new {
            self.delete(new);
        }
        if let Some(buffer) = self.list.iter_mut().find(|buffer| buffer.name == old) {
            new.clone_into(&mut buffer.name);
            buffer.is_automatic = false;
        }
        true
    }

    /// Deletes a buffer. Returns false if no buffer has the name.
    pub fn delete(&mut self, name: &str) -> bool {
        let before = self.list.len();
        self.list.retain(|buffer| buffer.name != name);
        self.list.len() < before
    }
}

impl Buffer {
    /// The start of the text on one line, as in tmux.
    pub fn sample(&self) -> String {
        const LONGEST: usize = 200;
        let mut out = String::new();
        for char in self.text.chars().take(LONGEST) {
            match char {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                '\\' => out.push_str("\\\\"),
                char if char.is_control() => out.push_str(&format!("\\{:03o}", u32::from(char))),
                char => out.push(char),
            }
        }
        if self.text.chars().count() > LONGEST {
            out.push_str("...");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_buffers_are_numbered_and_bounded() {
        let mut buffers = Buffers::default();
        for number in 0..60 {
            buffers.set(None, number.to_string(), 0).unwrap();
        }
        assert_eq!(buffers.list().len(), MOST_AUTOMATIC);
        assert_eq!(buffers.find(None).unwrap().name, "buffer59");
        buffers.set(Some("own"), "text\n".to_owned(), 0).unwrap();
        assert_eq!(buffers.find(None).unwrap().name, "buffer59");
        assert_eq!(buffers.find(Some("own")).unwrap().sample(), "text\\n");
        assert!(buffers.rename("buffer59", "own") && !buffers.rename("none", "x"));
        assert_eq!(buffers.find(Some("own")).unwrap().text, "59");
        assert!(buffers.delete("own") && !buffers.delete("own"));
        assert!(buffers.set(None, "x".repeat(LARGEST + 1), 0).is_err());
    }

    #[test]
    fn all_buffers_together_are_bounded() {
        let mut buffers = Buffers::default();
        let most = LARGEST_TOTAL / LARGEST;
        let text = || "x".repeat(LARGEST);
        for _ in 0..=most {
            buffers.set(None, text(), 0).unwrap();
        }
        // The oldest buffer was deleted.
        assert_eq!(buffers.list().len(), most);
        assert!(buffers.find(Some("buffer0")).is_none());
        // Named buffers are never deleted. Automatic buffers are deleted to make room for them.
        for number in 0..most {
            buffers.set(Some(&format!("own{number}")), text(), 0).unwrap();
        }
        assert!(buffers.find(None).is_none());
        assert!(buffers.set(None, "x".to_owned(), 0).is_err());
        assert!(buffers.set(Some("more"), "x".to_owned(), 0).is_err());
        buffers.set(Some("own0"), "x".to_owned(), 0).unwrap();
        buffers.set(None, "x".to_owned(), 0).unwrap();
        assert_eq!(buffers.find(None).unwrap().text, "x");
    }
}
