//! Assigns the slots for searches. Tokens take turns, regardless of how many searches each has queued.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::{
    caller::TokenKind,
    error::{Error, Result},
};

/// The maximum number of concurrent searches. They use threads that file operations and programs also need.
pub(super) const MOST: usize = 3;
/// The maximum number of concurrent searches of one token, so that one slot is always left for other tokens.
pub(super) const MOST_OF_TOKEN: usize = 2;
/// The maximum number of searches of one token that wait for a slot.
pub(super) const MOST_WAITING: usize = 256;

/// The slots, and the searches that wait for one.
#[derive(Default)]
pub(super) struct Turns(Mutex<State>);

#[derive(Default)]
struct State {
    /// The number of running searches of each token.
    running: HashMap<TokenKind, usize>,
    /// The waiting searches of each token, oldest first. The token whose turn is next comes first.
    waiting: VecDeque<(TokenKind, VecDeque<oneshot::Sender<Turn>>)>,
}

/// A slot. Dropping it passes the slot on.
pub(super) struct Turn {
    turns: Arc<Turns>,
    token: TokenKind,
}

impl Turns {
    /// Waits for a slot. Cancel-safe.
    ///
    /// # Errors
    /// Too many searches of this token are already waiting.
    pub async fn next(self: &Arc<Self>, token: TokenKind) -> Result<Turn> {
        let (sender, slot) = oneshot::channel();
        self.0.lock().enqueue(token, sender)?;
        self.give();
        slot.await.map_err(|_| Error::Panicked("a search lost its turn".to_owned()))
    }

    /// Assigns the free slots to waiting searches.
    fn give(self: &Arc<Self>) {
        let mut state = self.0.lock();
        let mut abandoned = Vec::new();
        while let Some((token, sender)) = state.next() {
            *state.running.entry(token).or_default() += 1;
            if let Err(turn) = sender.send(Turn { turns: self.clone(), token }) {
                abandoned.push(turn);
            }
        }
        drop(state);
        // Dropping an abandoned slot locks the state again, and assigns the slot to another search.
        drop(abandoned);
    }
}

impl State {
    fn enqueue(&mut self, token: TokenKind, sender: oneshot::Sender<Turn>) -> Result<()> {
        let index = self.waiting.iter().position(|(other, _)| *other == token);
        let queue = match index {
            Some(index) => &mut self.waiting[index].1,
            None => {
                self.waiting.push_back((token, VecDeque::new()));
                let last = self.waiting.len() - 1;
                &mut self.waiting[last].1
            }
        };
        if queue.len() >= MOST_WAITING {
            queue.retain(|sender| !sender.is_closed());
        }
        if queue.len() >= MOST_WAITING {
            return Err(Error::Failed(format!(
                "{MOST_WAITING} searches of this token already wait for their turn; wait for some of them"
            )));
        }
        queue.push_back(sender);
        Ok(())
    }

    /// Removes and returns the search that gets the next free slot. `None` if no slot is free for any token that waits.
    fn next(&mut self) -> Option<(TokenKind, oneshot::Sender<Turn>)> {
        if self.running.values().sum::<usize>() >= MOST {
            return None;
        }
        let running = &self.running;
        let may_run =
            |token: &TokenKind| running.get(token).is_none_or(|&count| count < MOST_OF_TOKEN);
        let index = self.waiting.iter().position(|(token, _)| may_run(token))?;
        let (token, mut queue) = self.waiting.remove(index)?;
        let sender = queue.pop_front()?;
        if !queue.is_empty() {
            self.waiting.push_back((token, queue));
        }
        Some((token, sender))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.0.lock();
        if let Some(count) = state.running.get_mut(&self.token) {
            *count -= 1;
            if *count == 0 {
                state.running.remove(&self.token);
            }
        }
        drop(state);
        self.turns.give();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::Pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    type Waiting = Pin<Box<dyn Future<Output = Result<Turn>> + Send>>;

    fn wait(turns: &Arc<Turns>, token: TokenKind) -> Waiting {
        let turns = turns.clone();
        let mut waiting: Waiting = Box::pin(async move { turns.next(token).await });
        // The first poll adds the search to the queue.
        assert!(has(&mut waiting).is_none());
        waiting
    }

    fn has(waiting: &mut Waiting) -> Option<Turn> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn.unwrap()),
            Poll::Pending => None,
        }
    }

    fn takes(turns: &Arc<Turns>, token: TokenKind) -> Turn {
        has(&mut (Box::pin({
            let turns = turns.clone();
            async move { turns.next(token).await }
        }) as Waiting))
        .expect("there is a free slot")
    }

    const GREEDY: TokenKind = TokenKind::Agent(1);
    const OTHER: TokenKind = TokenKind::Agent(2);

    #[test]
    fn a_full_queue_delays_another_token_by_one_search() {
        let turns = Arc::<Turns>::default();
        let mut running: Vec<_> = (0..MOST_OF_TOKEN).map(|_| takes(&turns, GREEDY)).collect();
        let mut queued: Vec<_> = (0..MOST_WAITING).map(|_| wait(&turns, GREEDY)).collect();
        // The greedy token can't use the third slot, so another token gets it.
        let other = takes(&turns, OTHER);
        // When all slots are in use, the tokens take turns.
        let mut others = [wait(&turns, OTHER), wait(&turns, OTHER)];
        drop(running.remove(0));
        running.push(has(&mut queued[0]).expect("the greedy token has waited longest"));
        drop(running.remove(0));
        let second = has(&mut others[0]).expect("then it is the other one's turn");
        assert!(has(&mut queued[1]).is_none());
        drop(second);
        running.push(has(&mut queued[1]).expect("and the greedy one's again"));
        assert!(has(&mut others[1]).is_none());
        drop(other);
        assert!(has(&mut others[1]).is_some());
    }

    #[test]
    fn only_so_many_of_a_token_wait() {
        let turns = Arc::<Turns>::default();
        let running: Vec<_> = (0..MOST_OF_TOKEN).map(|_| takes(&turns, GREEDY)).collect();
        let mut queued: Vec<_> = (0..MOST_WAITING).map(|_| wait(&turns, GREEDY)).collect();
        let next = |token| {
            let turns = turns.clone();
            let mut next = Box::pin(async move { turns.next(token).await });
            match next.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(turn) => turn.map(drop).map_err(|error| error.to_string()),
                Poll::Pending => Ok(()),
            }
        };
        let refused = next(GREEDY).unwrap_err();
        assert!(refused.contains("256 searches of this token already wait"), "{refused}");
        assert_eq!(next(OTHER), Ok(()), "another token's are not refused");
        // Searches that are given up leave the queue, and never get a slot.
        queued.drain(..10);
        assert_eq!(next(GREEDY), Ok(()));
        drop(running);
        assert!(has(&mut queued[0]).is_some());
        drop(queued);
        let left = turns.0.lock();
        assert!(left.running.is_empty() && left.waiting.is_empty());
    }
}
