//! Tables 1 to 4 of document 002 beside ours: fields, octrees, segments and shells that move.

mod falling;
mod swept_shell;
pub(super) mod table1;
pub(super) mod table2;
pub(super) mod table3;
pub(super) mod table4;
