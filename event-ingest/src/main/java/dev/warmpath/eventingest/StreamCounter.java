package dev.warmpath.eventingest;

import java.util.Locale;

/** What is counted for each engine. */
public enum StreamCounter {
  BATCHES("Batches applied."),
  EVENTS("Events applied."),
  BLOCKS_STORED("Block hashes announced as stored."),
  BLOCKS_REMOVED("Block hashes announced as removed."),
  GAPS("Jumps of the sequence number."),
  LOST_BATCHES("Batches that no replay brought back."),
  REPLAYS("Replays requested."),
  REPLAY_FAILURES("Replays that timed out or were refused."),
  REPLAYED_BATCHES("Batches that only a replay brought."),
  RESTARTS("New lifetimes of the engine's process."),
  RECONNECTS("Connections restored."),
  SILENT_CONNECTIONS("Connections that delivered nothing while the replay socket did."),
  CLEARS("Times all its blocks were forgotten, for any reason."),
  SUSPENDED_BLOCKS("Held blocks suspended because their removals may be lost."),
  CONFIRMED_BLOCKS("Suspended blocks shown to be held again."),
  COMPUTED_NAMES("Blocks named from prompts, because no event names them any more."),
  COMPUTATIONS_SKIPPED("Prompts not used to name blocks, for lack of room or time."),
  REUSES_SKIPPED(
      "Answers whose `cached_tokens` were ignored, for lack of room between socket and index."),
  DUPLICATES("Batches that came twice."),
  LATE_BATCHES("Batches that came after being given up; not applied."),
  BUFFER_OVERFLOWS("Live batches refused during a replay, for lack of room."),
  QUEUE_OVERFLOWS("Live batches refused for lack of room between socket and index."),
  WRITE_FAILURES("Router failures applying events; the engine's blocks were forgotten: alarm."),
  IMAGE_FAILURES(
      "Router failures learning images; no more is learned until the engine's restart: alarm."),
  OVERSIZED_MESSAGES("Messages larger than `ingest.ring-bytes`: lost."),
  BAD_MESSAGES("Malformed messages."),
  UNDECODABLE_BATCHES("Undecodable batches."),
  SKIPPED_EVENTS("Unreadable events."),
  RANK_MISMATCHES("Batches of another data-parallel rank; refused."),
  SPARSE_BLOCKS("Blocks of stores that leave blocks out: held, but not named by them."),
  TOKENLESS_BLOCKS("Blocks announced without tokens."),
  PARTIAL_BLOCKS("Blocks smaller than their group's: not credited."),
  UNNAMEABLE_BLOCKS("Blocks not named for another reason."),
  KEYED_STORES(
      "SGLang: stores in a name space that only hashes show (an `extra_key`, or an adapter not as"
          + " in `loras`)."),
  REFUSED_BLOCKS("Blocks beyond the engine's capacity: not credited."),
  REMOTE_BLOCKS("Blocks in storage that is not the replica's own."),
  SECONDARY_BLOCKS(
      "Blocks in a secondary offload tier, whose removals are not announced: not credited."),
  WINDOW_BLOCKS("Blocks of a second attention window: not credited."),
  UNKNOWN_MEDIUM_BLOCKS("Blocks in storage of unknown kind."),
  UNKNOWN_GROUP_REMOVALS("Removals from a group without a store."),
  SHORT_HITS("Hits shorter than the index showed, with nothing removed or suspended meanwhile."),
  BLOCK_SIZE_CHANGES("Block size or lookahead changed within a lifetime: alarm.");

  private final String label = name().toLowerCase(Locale.ROOT);
  private final String meaning;

  StreamCounter(String meaning) {
    this.meaning = meaning;
  }

  /** The name in metrics. */
  public String label() {
    return label;
  }

  /** What is counted, in a sentence; it stands in the documentation. */
  public String meaning() {
    return meaning;
  }
}
