use proptest::prelude::*;

use super::*;

/// A pane of a session with two windows. The second window is current, and has two panes.
struct Pane {
    window: usize,
    pane: usize,
}

impl Values for Pane {
    fn value(&self, name: &str) -> Option<String> {
        let text = match name {
            "pane_id" => format!("%{}", self.pane),
            "pane_index" => self.pane.to_string(),
            "window_index" => self.window.to_string(),
            "window_name" => ["one", "two"][self.window].to_owned(),
            "session_name" => "main".to_owned(),
            "pane_title" => "a # title".to_owned(),
            "pane_current_path" => "/usr/local/bin".to_owned(),
            "window_flags" => "*".to_owned(),
            "host" => "vm.example".to_owned(),
            "pane_active" => "1".to_owned(),
            "pane_dead" => "0".to_owned(),
            "window_activity" => "1445765102".to_owned(),
            "version" => "3.5".to_owned(),
            "@loop" => "#{E:@loop}#{E:@loop}".to_owned(),
            "@nested" => "#{pane_id}".to_owned(),
            "@long" => "é".repeat(100_000),
            "status-left" => "[#S] %H".to_owned(),
            _ => return None,
        };
        Some(text)
    }

    fn each(&self, kind: Each) -> Vec<(bool, Box<dyn Values + '_>)> {
        let pane = |window, pane| Box::new(Pane { window, pane }) as Box<dyn Values>;
        match kind {
            Each::Session => vec![(true, pane(1, 1))],
            Each::Window => vec![(false, pane(0, 0)), (true, pane(1, 1))],
            Each::Pane => vec![(true, pane(1, 1)), (false, pane(1, 2))],
        }
    }

    fn has_name(&self, kind: Each, name: &str) -> bool {
        match kind {
            Each::Session => name == "main",
            _ => name == "one" || name == "two",
        }
    }

    fn rows(&self) -> Vec<String> {
        vec!["first row".to_owned(), "second row".to_owned()]
    }
}

const PANE: Pane = Pane { window: 1, pane: 1 };
/// Sunday, 25 October 2015, 09:25:02 UTC.
const CLOCK: Clock = Clock { now: 1_445_765_102, offset: 0 };

fn check(cases: &[(&str, &str)]) {
    for (format, expected) in cases {
        assert_eq!(expand(format, &PANE, &CLOCK), *expected, "{format}");
    }
}

#[test]
fn variables_have_names_and_letters() {
    check(&[
        ("#{pane_id} #D #S:#I.#P #W #F #H #T", "%1 %1 main:1.1 two * vm.example a # title"),
        ("[#{unknown}] #Q #q #", "[] #Q #q #"),
        ("## #, #} #[fg=red]x ##[fg=red] ###[x", "# , } #[fg=red]x ##[fg=red] ###[x"),
        ("a #{pane_id", "a "),
        ("#(date) x", "<'date' not ready> x"),
    ]);
}

#[test]
fn conditions_choose() {
    check(&[
        ("#{?pane_active,yes,no} #{?pane_dead,yes,no} #{?unknown,yes,no}", "yes no no"),
        ("#{?1,a,b}#{?0,a,b}#{?,a,b}", "bbb"),
        ("#{?#{pane_active},a,b}#{?#{==:#I,1},#{pane_id},b}", "a%1"),
        ("#{?pane_active,a#,b#},c}", "a,b}"),
        ("#{?pane_dead,a,#{?pane_active,b,c}}", "b"),
        ("x#{?pane_active}y", "x"),
        ("#{==:a,a}#{!=:a,a}#{<:a,b}#{>:a,b}#{<=:b,b}#{>=:a,b}", "101010"),
        ("#{||:0,1}#{||:0,}#{&&:1,1}#{&&:1,0}", "1010"),
        ("#{==:#{?pane_active,a,b},a}", "1"),
    ]);
}

#[test]
fn patterns_match_the_whole_text_and_expressions_a_part() {
    check(&[
        ("#{m:*b*,abc}#{m:b,abc}#{m:a?c,abc}#{m:[a-c]*,cab}#{m:[!a]*,abc}", "10110"),
        ("#{m/r:b,abc}#{m/ri:B$,AB}#{m/r:^b,abc}#{m/r:(,x}", "1100"),
        ("#{C:second} #{C:none} #{C/r:^first} #{C/i:SECOND}", "2 0 1 2"),
        (
            "#{s/a(.)/x\\1/:#{l:abab}} #{s/A/x/i:#{l:aa}} #{s|/|-|:pane_current_path}",
            "xbxb xx -usr-local-bin",
        ),
    ]);
}

#[test]
fn texts_are_cut_padded_and_quoted() {
    check(&[
        ("#{=3:pane_current_path} #{=-3:pane_current_path}", "/us bin"),
        ("#{=/4/...:pane_current_path} #{=/-3/...:pane_current_path}", "/usr... ...bin"),
        ("#{=/20/...:pane_current_path}", "/usr/local/bin"),
        ("[#{p6:pane_id}] [#{p-6:pane_id}] [#{p1:pane_id}]", "[%1    ] [    %1] [%1]"),
        ("#{p-6;=1:pane_id}|", "     %|"),
        ("#{b:pane_current_path} #{d:pane_current_path}", "bin /usr/local"),
        ("#{n:window_name} #{w:window_name}", "3 3"),
        ("#{q:pane_title} #{q/h:pane_title}", "a\\ \\#\\ title a ## title"),
        ("#{l:#{pane_id}} #{E:@nested} #{@nested}", "#{pane_id} %1 #{pane_id}"),
        (
            "#{a:98} #{a:7} #{c:red} #{c:brightred} #{c:colour16} #{c:colour231} #{c:colour255}",
            "b  800000 ff0000 000000 ffffff eeeeee",
        ),
        ("#{c:#00ff7F} #{c:none}", "00ff7f "),
    ]);
}

#[test]
fn numbers_are_calculated() {
    check(&[
        (
            "#{e|+|:1,2} #{e|-|:3,7} #{e|*|:3,4} #{e|/|:7,2} #{e|m|:7,2} #{e|%|:7,2}",
            "3 -4 12 3 1 1",
        ),
        ("#{e|*|f|4:5.5,3} #{e|/|f:7,2} #{e|*|f|0:2.5,1}", "16.5000 3.50 2"),
        ("#{e|<|:1,2}#{e|>|:1,2}#{e|==|:2,2}#{e|!=|:2,2}#{e|<=|:2,2}#{e|>=|:1,2}", "101010"),
        ("#{e|+|:a,2}#{e|?|:1,2}#{e|+:1,2}", "3"),
    ]);
}

#[test]
fn loops_repeat_for_each_session_window_and_pane() {
    check(&[
        ("#{S:#{session_name},}", "main,"),
        ("#{W:#I ,[#I] }", "0 [1] "),
        ("#{P:#{pane_id},<#{pane_id}>}", "<%1>%2"),
        ("#{N:one}#{N/w:two}#{N/s:main}#{N/s:one}", "1110"),
    ]);
}

#[test]
fn times_are_written() {
    check(&[
        ("#{t:window_activity}", "Sun Oct 25 09:25:02 2015"),
        ("#{t/p:window_activity} #{t/f/%%H#:%%M:window_activity}", "09:25 %H:%M"),
        ("#{t/f/%H#:%M:window_activity} %H", "09:25 %H"),
        ("#{T:status-left} #{E:status-left}", "[main] 09 [main] %H"),
    ]);
    assert_eq!(
        expand_with_time("%H:%M:%S %Y-%m-%d %% %Q #S", &PANE, &CLOCK),
        "09:25:02 2015-10-25 % %Q main"
    );
    let pretty = |age: i64| CLOCK.pretty(CLOCK.now - age * 86_400);
    assert_eq!([0, 2, 40, 400].map(pretty), ["09:25", "Fri23", "15Sep", "Sep14"]);
    let east = Clock { offset: 3 * 3600 + 1800, ..CLOCK };
    assert_eq!(east.format(east.now, "%H:%M %z"), "12:55 +0330");
}

#[test]
fn an_option_that_contains_itself_ends() {
    assert_eq!(expand("#{E:@loop}", &PANE, &CLOCK), "");
    let deep = format!("{}pane_id{}", "#{?1,".repeat(5000), ",}".repeat(5000));
    let _ = expand(&deep, &PANE, &CLOCK);
    let _ = expand(&"#{".repeat(100_000), &PANE, &CLOCK);
}

#[test]
fn results_are_bounded_after_every_modifier() {
    let grow = "s/é/éééééééééé/";
    let tenfold = expand(&format!("#{{{grow}:@long}}"), &PANE, &CLOCK);
    assert!(tenfold.len() <= LONGEST && tenfold.ends_with('é'), "{}", tenfold.len());
    let more = [grow; 8].join(";");
    assert!(expand(&format!("#{{{more}:@long}}"), &PANE, &CLOCK).len() <= LONGEST);
    let groups = format!("#{{s/(.+)/{}/:@long}}", "\\1".repeat(1000));
    assert!(expand(&groups, &PANE, &CLOCK).len() <= LONGEST);
}

proptest! {
    #[test]
    fn no_format_makes_it_panic(
        format in "[#{}?:;,/=pqetsmCEWP|<>!&()a0-9é-]{0,40}", other in any::<String>()
    ) {
        let _ = expand_with_time(&format, &PANE, &CLOCK);
        let _ = expand(&other, &PANE, &CLOCK);
        let _ = expand(&format!("#{{{format}}}"), &PANE, &CLOCK);
    }

    #[test]
    fn no_pattern_makes_glob_panic(pattern in "[*?\\[\\]!\\\\a-c-]{0,12}", text in "[a-c]{0,12}") {
        let _ = glob(&pattern, &text);
        prop_assert!(glob("*", &text) && glob(&text, &text));
    }
}
