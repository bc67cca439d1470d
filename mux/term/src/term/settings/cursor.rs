//! The cursor as a viewer sees it.

/// The form of a cursor (DECSCUSR).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CursorShape {
    /// The user's choice (DECSCUSR 0, and the default).
    #[default]
    Default,
    /// A full cell (DECSCUSR 1, 2).
    Block,
    /// A line at the bottom of the cell (DECSCUSR 3, 4).
    Underline,
    /// A line at the cell's left edge (DECSCUSR 5, 6).
    Bar,
}

/// The position and appearance of the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// Row from the top of the live screen, or of the viewport in a snapshot.
    pub row: u16,
    /// Column from the left.
    pub col: u16,
    /// Whether it is visible (DECTCEM); in a snapshot, it must also be inside the viewport.
    pub visible: bool,
    /// The shape.
    pub shape: CursorShape,
    /// Whether it blinks (DECSCUSR odd numbers, mode 12).
    pub blinking: bool,
}
