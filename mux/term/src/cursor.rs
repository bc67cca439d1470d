//! The cursor as a viewer sees it.

/// The form of a cursor (DECSCUSR).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CursorShape {
    /// The user's choice (DECSCUSR 0, and until a program asks for another).
    #[default]
    Default,
    /// A full cell (DECSCUSR 1, 2).
    Block,
    /// A line at the cell's foot (DECSCUSR 3, 4).
    Underline,
    /// A line at the cell's left edge (DECSCUSR 5, 6).
    Bar,
}

/// Where the cursor is and how it looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// Row from the top of the live screen, or of the viewport in a snapshot.
    pub row: u16,
    /// Column from the left.
    pub col: u16,
    /// Shown (DECTCEM), and in a snapshot also: inside the viewport.
    pub visible: bool,
    /// Form.
    pub shape: CursorShape,
    /// Blinking (DECSCUSR odd numbers, mode 12).
    pub blinking: bool,
}
