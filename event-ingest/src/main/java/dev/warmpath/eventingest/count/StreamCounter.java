package dev.warmpath.eventingest.count;

import java.util.Locale;

/** What is counted for each engine. */
public enum StreamCounter {
  BATCHES("Batches applied."),
  EVENTS("Events applied."),
  BLOCKS_STORED("Block hashes announced as stored."),
  BLOCKS_REMOVED("Block hashes announced as removed."),
  GAPS("Jumps of the sequence number."),
  LOST_BATCHES("Batches that no replay could bring back."),
  REPLAYS("Replays asked for."),
  REPLAY_FAILURES("Replays that timed out or were refused."),
  REPLAYED_BATCHES("Batches that only a replay brought."),
  RESTARTS("New lifetimes of the engine's process."),
  RECONNECTS("Connections that came back."),
  SILENT_CONNECTIONS("Connections that delivered nothing while the replay socket did."),
  CLEARS("Times the engine's holdings were forgotten, whatever the reason."),
  SUSPENDED_BLOCKS("Held blocks that were suspended, because removals of them may have been lost."),
  CONFIRMED_BLOCKS("Suspended blocks that are held again: stored again, or shown to be there."),
  COMPUTED_NAMES(
      "Blocks whose names were computed from prompts, because nobody tells of them any more."),
  COMPUTATIONS_SKIPPED(
      "Prompts whose names could have helped, but were not computed for lack of room or time."),
  REUSES_SKIPPED(
      "Answers whose `cached_tokens` were not looked at, for lack of room between socket and index."),
  DUPLICATES("Batches that came twice."),
  LATE_BATCHES("Batches that came after they had been given up; not applied."),
  BUFFER_OVERFLOWS("Live batches refused while a replay ran, for lack of room."),
  QUEUE_OVERFLOWS("Live batches refused for lack of room between socket and index."),
  WRITE_FAILURES(
      "Failures of the router at what came of the engine; all that was known of it was forgotten: an alarm."),
  OVERSIZED_MESSAGES("Messages larger than `ingest.ring-bytes`: lost."),
  BAD_MESSAGES("Messages of a wrong shape."),
  UNDECODABLE_BATCHES("Batches that could not be decoded."),
  SKIPPED_EVENTS("Events that could not be read, of whatever kind."),
  RANK_MISMATCHES("Batches of another data-parallel rank than expected; applied all the same."),
  SPARSE_BLOCKS("Blocks of stores that leave blocks out: held, but not named by them."),
  TOKENLESS_BLOCKS("Blocks announced without tokens."),
  PARTIAL_BLOCKS("Blocks smaller than their group's: not credited."),
  UNNAMEABLE_BLOCKS("Blocks that could not be named for another reason."),
  KEYED_STORES(
      "SGLang's stores of prompts in a name space that only hashes show: an `extra_key`, or an adapter with another id than `loras` says."),
  REFUSED_BLOCKS("Blocks beyond what the engine can hold: not credited."),
  REMOTE_BLOCKS("Blocks in storage that is not the replica's own."),
  SECONDARY_BLOCKS(
      "Blocks in a secondary offload tier, which does not tell when they go: not credited."),
  WINDOW_BLOCKS(
      "Blocks of a second attention window, of which nobody knows what a hit needs: not credited."),
  UNKNOWN_MEDIUM_BLOCKS("Blocks in storage of unknown kind."),
  UNKNOWN_GROUP_REMOVALS("Removals from a group of which no store was seen."),
  SHORT_HITS(
      "Hits that stayed short of what the index showed although nothing was removed meanwhile."),
  BLOCK_SIZE_CHANGES("Changes of block size or lookahead within a lifetime: an alarm.");

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
