//! Control sequences: the method of each, and nothing else.
//!
//! Sources: ECMA-48, DEC STD 070, xterm ctlseqs ("Functions using CSI"). A count of 0 means 1.

use crate::params::Csi;
use crate::term::Term;
use crate::term::settings::modes::DecModes;

/// Whether a sequence belongs to kitty's multiple cursors protocol.
fn is_extra_cursors(csi: &Csi) -> bool {
    (csi.private, csi.intermediate, csi.end) == (b'>', b' ', b'q')
}

impl Term {
    /// A control sequence.
    #[inline]
    pub(crate) fn csi(&mut self, csi: &Csi) {
        let p = &csi.params;
        let takes_parts = csi.end == b'm' || is_extra_cursors(csi);
        if p.has_parts() && !takes_parts || !self.knows(csi) {
            // Colons are valid only in SGR and for extra cursors; xterm drops any other sequence with them.
            tracing::debug!(?csi, "control sequence dropped");
            return self.end_operation();
        }
        match (csi.private, csi.intermediate, csi.end) {
            (0, 0, b'm') => self.select_rendition(p), // SGR
            (0, 0, b'H' | b'f') => self.move_to(p.count(0), p.count(1)), // CUP, HVP
            (0, 0, b'A') => self.move_up(p.count(0)), // CUU
            (0, 0, b'B') => self.move_down(p.count(0)), // CUD
            (0, 0, b'C') => self.move_right(p.count(0)), // CUF
            (0, 0, b'a') => self.move_right_any(p.count(0)), // HPR
            // HPB (ECMA-48 8.3.58) is supported, as in libvterm and ghostty: xterm 379 ignores CSI j, so no program
            // uses it for anything else. VPB (CSI k, 8.3.159) is not: xterm ignores it too, and the fixtures of
            // xterm.js (t0032, t0033) depend on that.
            (0, 0, b'D' | b'j') => self.move_left(p.count(0)), // CUB, HPB
            (0, 0, b'E') => {
                self.move_down(p.count(0)); // CNL
                self.carriage_return();
            }
            (0, 0, b'F') => {
                self.move_up(p.count(0)); // CPL
                self.carriage_return();
            }
            (0, 0, b'G' | b'`') => self.move_to_col(p.count(0)), // CHA, HPA
            (0, 0, b'I') => self.tab_forward(p.count(0)),        // CHT
            (0, 0, b'J') => self.erase_in_display(p.get(0)),     // ED
            (0, 0, b'K') => self.erase_in_line(p.get(0)),        // EL
            (b'?', 0, b'J') => self.erase_selectively_in_display(p.get(0)), // DECSED
            (b'?', 0, b'K') => self.erase_selectively_in_line(p.get(0)), // DECSEL
            (0, 0, b'L') => self.insert_lines(p.count(0)),       // IL
            (0, 0, b'M') => self.delete_lines(p.count(0)),       // DL
            (0, 0, b'@') => self.insert_chars(p.count(0)),       // ICH
            (0, 0, b'P') => self.delete_chars(p.count(0)),       // DCH
            (0, 0, b'X') => self.erase_chars(p.count(0)),        // ECH
            (0, 0, b'S') => self.scroll_up(p.count(0)),          // SU
            (b'?', 0, b'S') => self.graphics_attribute(p),       // XTSMGRAPHICS
            (0, 0, b'T') if p.values().len() == 1 && p.given(0) != Some(0) => {
                self.scroll_down(p.count(0)); // SD; 0 and more numbers: highlight tracking (xterm)
            }
            (0, 0, b'^') => self.scroll_down(p.count(0)), // SD (ECMA-48)
            (0, b'+', b'T') => self.unscroll(p.count(0)), // unscroll (kitty)
            (0, 0, b'Z') => self.tab_backward(p.count(0)), // CBT
            (0, 0, b'b') => self.repeat(p.count(0)),      // REP
            (0, 0, b'c') if p.get(0) == 0 => self.report_primary_attributes(), // DA1
            (b'>', 0, b'c') if p.get(0) == 0 => self.report_secondary_attributes(), // DA2
            (b'=', 0, b'c') if p.get(0) == 0 => self.report_tertiary_attributes(), // DA3
            (0, 0, b'd') => self.move_to_row(p.count(0)), // VPA
            (0, 0, b'e') => self.move_down_any(p.count(0)), // VPR
            (0, 0, b'g') => self.clear_tabs(p.get(0)),    // TBC
            (0, 0, b'h') => self.set_modes(p, true),      // SM
            (0, 0, b'l') => self.set_modes(p, false),     // RM
            (b'?', 0, b'h') => self.set_private_modes(p, true), // DECSET
            (b'?', 0, b'l') => self.set_private_modes(p, false), // DECRST
            (b'?', 0, b's') if p.values() == [0] => self.save_all_modes(), // XTSAVE (kitty)
            (b'?', 0, b'r') if p.values() == [0] => self.restore_all_modes(), // XTRESTORE (kitty)
            (b'?', 0, b's') => self.save_private_modes(p), // XTSAVE
            (b'?', 0, b'r') => self.restore_private_modes(p), // XTRESTORE
            (0, 0, b'n') => self.report_status(p.get(0)), // DSR
            (b'?', 0, b'n') => self.report_private_status(p), // DSR (DEC)
            (0, 0, b'r') => self.set_region(p.get(0) as usize, p.get(1) as usize), // DECSTBM
            (0, 0, b's') if self.dec.contains(DecModes::LEFT_RIGHT) => {
                self.set_margins(p.get(0) as usize, p.get(1) as usize); // DECSLRM
            }
            (0, 0, b's') => self.save_cursor(), // SCOSC; numbers are ignored (xterm)
            (0, 0, b'u') => self.restore_cursor(), // SCORC
            (0, 0, b't') => self.window_operation(p), // XTWINOPS
            (b'>', 0, b'q') if p.get(0) == 0 => self.report_version(), // XTVERSION
            (0, b' ', b'q') => self.set_cursor_style(p.get(0)), // DECSCUSR
            (b'>', b' ', b'q') => self.extra_cursors(p), // multiple cursors (kitty)
            (0, b'!', b'p') => self.soft_reset(), // DECSTR
            (0, b'"', b'q') => self.set_protection(p.get(0)), // DECSCA
            (0, b'\'', b'|') if p.get(0) < 2 => self.report_locator(), // DECRQLP
            (0, b'"', b'v') => self.report_displayed_extent(), // DECRQDE
            (0, b'#', b'S') => self.report_title_stack(), // XTTITLEPOS
            (0, b'$', b'u') => self.report_terminal_state(p), // DECRQTSR
            (0, b'$', b'w') => self.report_presentation(p.get(0)), // DECRQPSR
            (0, b'&', b'u') => self.report_preferred_set(), // DECRQUPSS
            // MC: there is no printer, so everything about printing is ignored (VT420 manual).
            (0 | b'?', 0, b'i') => {}
            (0, b' ', b'@') => self.scroll_left(p.count(0)), // SL
            (0, b' ', b'A') => self.scroll_right(p.count(0)), // SR
            (0, b'\'', b'}') => self.insert_columns(p.count(0)), // DECIC
            (0, b'\'', b'~') => self.delete_columns(p.count(0)), // DECDC
            (0, b'$', b'v') => self.copy_rectangle(p),       // DECCRA
            (0, b'$', b'x') => self.fill_rectangle(p),       // DECFRA
            (0, b'$', b'z') => self.erase_rectangle(p),      // DECERA
            (0, b'$', b'{') => self.erase_rectangle_selectively(p), // DECSERA
            (0, b'$', b'r') => self.change_rectangle(p, false), // DECCARA
            (0, b'$', b't') => self.change_rectangle(p, true), // DECRARA
            (0, b'*', b'x') => self.select_change_extent(p.get(0)), // DECSACE
            (0, b'*', b'y') => self.report_checksum(p),      // DECRQCRA
            (0, b'#', b'y') => self.select_checksum(p.get(0)), // XTCHECKSUM
            (0, b'$', b'|') => self.set_columns(p.get(0)),   // DECSCPP
            (0, b'*', b'|') => self.set_lines(p.get(0)),     // DECSNLS
            (0, b'\"', b'p') => self.set_level(p.get(0), p.get(1)), // DECSCL
            (b'?', 0, b'W') if matches!(p.get(0), 0 | 5) => self.reset_tabs(), // DECST8C
            (b'>', 0, b't') => self.set_title_modes(p, true), // XTSMTITLE
            (b'>', 0, b'T') => self.set_title_modes(p, false), // XTRMTITLE
            (0, b'$', b'p') => self.report_mode(p.get(0)),   // DECRQM (ANSI)
            (b'?', b'$', b'p') => self.report_private_mode(p.get(0)), // DECRQM (DEC)
            (0, b'#', b'{' | b'p') => self.push_rendition(p), // XTPUSHSGR
            (0, b'#', b'}' | b'q') => self.pop_rendition(),  // XTPOPSGR
            (0, b'#', b'|') => self.report_rendition(p),     // XTREPORTSGR
            (0, b'#', b'P') => self.push_colors(p),          // XTPUSHCOLORS
            (0, b'#', b'Q') => self.pop_colors(p),           // XTPOPCOLORS
            (0, b'#', b'R') => self.report_color_stack(),    // XTREPORTCOLORS
            (b'>', 0, b'u') => self.push_key_flags(p.get(0)), // kitty keyboard
            (b'<', 0, b'u') => self.pop_key_flags(p.count(0)), // kitty keyboard
            (b'=', 0, b'u') => self.set_key_flags(p.get(0), p.count(1)), // kitty keyboard
            (b'?', 0, b'u') => self.report_key_flags(),      // kitty keyboard
            (b'>', 0, b'm') => self.set_key_modifiers(p),    // XTMODKEYS
            (b'?', 0, b'm') => self.report_key_modifiers(p.get(0)), // XTQMODKEYS
            (b'>', 0, b'n') => self.disable_key_modifiers(p.get(0), p.values() != [0]), // XTMODKEYS off
            (b'>', 0, b'f') => self.set_key_format(p),                                  // XTFMTKEYS
            (b'?', 0, b'g') => self.report_key_format(p.get(0)), // XTQFMTKEYS
            _ => tracing::debug!(?csi, "unknown control sequence"),
        }
        self.end_operation();
    }
}
