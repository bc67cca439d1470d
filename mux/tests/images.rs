//! The memory limits that images of all panes share.

use crate::common;
use std::sync::Arc;

use unterm_mux::{Mux, Pane};

/// The bytes of one image.
const IMAGE: usize = 100 * 100 * 4;

/// A pane whose program shows kitty images of 100 × 100 pixels, and prints the terminal's replies.
fn pane(mux: &Arc<Mux>) -> Arc<Pane> {
    let pane = common::open(
        mux,
        r#"stty -echo -icanon
        data=$(head -c 40000 /dev/zero | base64 -w 0)
        echo ready
        while read -r line; do
            id=${line#* }
            case $line in
            send*) printf '\033_Ga=T,C=1,q=2,i=%s,s=100,v=100;%s\033\\sent %s\n' "$id" "$data" "$id";;
            show*) printf '\033_Ga=p,C=1,i=%s\033\\asked %s\n' "$id" "$id";;
            *) printf '<%s>\n' "$(printf %s "$line" | tr -d '\033\\')";;
            esac
        done"#,
    );
    common::wait_text(&pane, "ready");
    pane
}

fn ask(pane: &Pane, line: &str, answer: &str) {
    pane.write(format!("{line}\n").as_bytes()).unwrap();
    common::wait(pane, answer, |pane| common::screen(pane).iter().any(|row| row == answer));
}

/// Sends images with these ids.
fn send(pane: &Pane, ids: impl IntoIterator<Item = usize>) {
    for id in ids {
        ask(pane, &format!("send {id}"), &format!("sent {id}"));
    }
}

/// Shows an image again. Returns the terminal's reply to the program.
fn show(pane: &Pane, id: usize) -> String {
    ask(pane, &format!("show {id}"), &format!("asked {id}"));
    // The reply is input without a line end. Enter completes the line, so that the program prints it.
    pane.write(b"\n").unwrap();
    let reply = format!("<_Gi={id};");
    let find = |pane: &Pane| common::screen(pane).into_iter().find(|row| row.starts_with(&reply));
    common::wait(pane, "the reply", |pane| find(pane).is_some());
    find(pane).unwrap()
}

#[test]
fn images_of_the_greediest_pane_give_way() {
    let mux = common::headless();
    mux.set_image_budget(11 * IMAGE);
    let (greedy, other) = (pane(&mux), pane(&mux));
    let images = |pane: &Pane| pane.term().image_bytes() / IMAGE;
    send(&other, 1..=2);
    send(&greedy, 1..=20);
    assert_eq!(images(&other), 2, "a pane with few images keeps them");
    assert_eq!(images(&greedy), 8);
    // The oldest images are deleted, as if the program itself had deleted them.
    assert_eq!(show(&greedy, 20), "<_Gi=20;OK>");
    let gone = show(&greedy, 1);
    assert!(gone.starts_with("<_Gi=1;ENOENT"), "{gone}");
    // Images of another pane replace the oldest images of the pane that uses most memory.
    send(&other, 3..=5);
    assert_eq!([images(&other), images(&greedy)], [5, 5]);
    assert_eq!(show(&other, 1), "<_Gi=1;OK>");
    mux.shutdown();
}

#[test]
fn an_incomplete_image_is_dropped_with_an_error() {
    let mux = common::headless();
    // While an image arrives, its data counts in the form of base64.
    mux.set_image_budget(7 * IMAGE);
    let half = common::open(
        &mux,
        r"stty -echo -icanon
        data=$(head -c 200000 /dev/zero | base64 -w 0)
        printf '\033_Ga=T,i=7,s=300,v=300,m=1;%s\033\\half\n' $data
        read -r line
        printf '\033_Gm=0;AAAA\033\\whole\n'
        read -r line
        printf '<%s>\n' $(printf %s $line | tr -d '\033\\')",
    );
    common::wait_text(&half, "half");
    assert!(half.term().image_bytes() >= 200_000);
    let other = pane(&mux);
    send(&other, [1, 2, 3]);
    assert_eq!(half.term().image_bytes(), 0);
    assert!(other.term().image_bytes() >= 3 * IMAGE);
    half.write(b"\n").unwrap();
    common::wait_text(&half, "whole");
    half.write(b"\n").unwrap();
    common::wait_text(&half, "<_Gi=7;ENOSPC");
    mux.shutdown();
}

#[test]
fn unfinished_images_of_all_panes_share_a_budget() {
    let mux = common::headless();
    mux.set_unfinished_budget(1_000_000);
    let send = |start: &str, bytes: usize, end: &str| {
        common::open(
            &mux,
            &format!(
                r"stty -echo -icanon
                printf '{start}'; head -c {bytes} /dev/zero | tr '\0' A; printf '{end}'
                read -r line
                printf '\033\\whole\n'
                read -r line"
            ),
        )
    };
    let starts = [r"\033]1337;File=inline=1:", r"\033]1337;FilePart=", r"\033Pq"];
    let modest: Vec<_> = starts.iter().map(|start| send(start, 100_000, "")).collect();
    for pane in &modest {
        common::wait(pane, "its bytes", |pane| pane.term().unfinished_bytes() >= 100_000);
    }
    // The pane with the most unfinished data loses it: its multipart file, and the part that is arriving.
    let greedy = send(
        r"\033]1337;MultipartFile=inline=1;size=900000\a\033]1337;FilePart=",
        850_000,
        r"\asent\n",
    );
    common::wait_text(&greedy, "sent");
    assert_eq!(greedy.term().unfinished_bytes(), 0);
    for pane in &modest {
        assert!(pane.term().unfinished_bytes() >= 100_000);
        pane.write(b"\n").unwrap();
        common::wait_text(pane, "whole");
        assert_eq!(pane.term().unfinished_bytes(), 0);
    }
    mux.shutdown();
}
