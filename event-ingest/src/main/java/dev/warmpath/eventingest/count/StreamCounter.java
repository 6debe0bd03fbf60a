package dev.warmpath.eventingest.count;

import java.util.Locale;

/** What is counted for each engine. Immutable. */
public enum StreamCounter {
  /** Batches applied. */
  BATCHES,
  /** Events applied. */
  EVENTS,
  /** Block hashes announced as stored. */
  BLOCKS_STORED,
  /** Block hashes announced as removed. */
  BLOCKS_REMOVED,
  /** Jumps of the sequence number. */
  GAPS,
  /** Batches that no replay could bring back. */
  LOST_BATCHES,
  /** Replays asked for. */
  REPLAYS,
  /** Replays that timed out or were refused. */
  REPLAY_FAILURES,
  /** Batches that only a replay brought. */
  REPLAYED_BATCHES,
  /** New lifetimes of the engine's process. */
  RESTARTS,
  /** Connections that came back. */
  RECONNECTS,
  /** Connections that delivered nothing while the replay socket did. */
  DEAF_CONNECTIONS,
  /** Times the engine's holdings were forgotten, whatever the reason. */
  CLEARS,
  /** Held blocks that were doubted, because removals of them may have been lost. */
  DOUBTED_BLOCKS,
  /** Doubted blocks that are held again: stored again, or shown to be there. */
  PROVEN_BLOCKS,
  /** Blocks whose names were computed from prompts, because nobody tells of them any more. */
  RECALLED_BLOCKS,
  /** Prompts whose names could have helped, but were not computed for lack of room or time. */
  RECALLS_SKIPPED,
  /** Batches that came twice. */
  DUPLICATES,
  /** Batches that came after they had been given up; not applied. */
  LATE_BATCHES,
  /** Live batches refused while a replay ran, for lack of room. */
  BUFFER_OVERFLOWS,
  /** Live batches refused for lack of room between socket and index. */
  QUEUE_OVERFLOWS,
  /** Messages of a wrong shape. */
  BAD_MESSAGES,
  /** Batches that could not be decoded. */
  UNDECODABLE_BATCHES,
  /** Events that could not be read, of whatever kind. */
  SKIPPED_EVENTS,
  /** Batches of another data-parallel rank than expected; applied all the same. */
  RANK_MISMATCHES,
  /** Blocks of stores that leave blocks out: held, but not named by them. */
  SPARSE_BLOCKS,
  /** Blocks announced without tokens. */
  TOKENLESS_BLOCKS,
  /** Blocks smaller than their group's: not credited. */
  PARTIAL_BLOCKS,
  /** Blocks that could not be named for another reason. */
  UNNAMEABLE_BLOCKS,
  /** Blocks in a name space that the wire does not show: not credited. */
  HIDDEN_BLOCKS,
  /** Blocks beyond what the engine can hold: not credited. */
  REFUSED_BLOCKS,
  /** Requests that were made to ask for a full report. */
  REPORTS_ASKED,
  /** Blocks that may have been announced before (full reports): held, but no further copy. */
  REPEATABLE_BLOCKS,
  /** Blocks in storage that is not the replica's own. */
  REMOTE_BLOCKS,
  /** Blocks in a secondary offload tier, which does not tell when they go: not credited. */
  SECONDARY_BLOCKS,
  /** Blocks of a second attention window, of which nobody knows what a hit needs: not credited. */
  WINDOW_BLOCKS,
  /** Blocks in storage of unknown kind. */
  UNKNOWN_MEDIUM_BLOCKS,
  /** Removals from a group of which no store was seen. */
  UNKNOWN_GROUP_REMOVALS,
  /** Hits that stayed short of what the index showed although nothing was removed meanwhile. */
  SHORT_HITS,
  /** Changes of block size or lookahead within a lifetime: an alarm. */
  BLOCK_SIZE_CHANGES;

  /** The name in metrics. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
