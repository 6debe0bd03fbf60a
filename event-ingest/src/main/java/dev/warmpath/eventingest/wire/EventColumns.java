package dev.warmpath.eventingest.wire;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The events of one batch: a row for each, the hashes of all in one column and the tokens of all in
 * another. Filled anew from batch to batch; a batch as large as the ones before allocates nothing.
 *
 * <p>A batch may fill {@value #BYTES_PER_BYTE} times its payload and {@value #SPARE_BYTES} bytes
 * more, which no engine's batches come near: an event beyond that is refused. What is kept between
 * batches is bounded, however large a batch was.
 *
 * <p>Confined to one thread.
 */
public final class EventColumns {

  private static final int KEPT_TOKENS = 1 << 18;
  private static final int KEPT_HASHES = 1 << 15;
  private static final int KEPT_ROWS = 1 << 12;
  private static final int BYTES_PER_BYTE = 4;
  private static final int SPARE_BYTES = 4 << 20;

  /** An {@link EventRow} and its place in the list. */
  private static final int ROW_BYTES = 112;

  private final int[] skipped = new int[SkipReason.values().length];
  private final List<EventRow> rows = new ArrayList<>();
  private int events;
  private long[] hashes = new long[64];
  private int hashEnd;
  private int[] tokens = new int[256];
  private int tokenEnd;
  double timestampSeconds = Double.NaN;
  int dataParallelRank = -1;
  private String firstProblem = "";
  private long maxBytes = SPARE_BYTES;
  private long keyBytes;

  /** How many events could be read. */
  public int events() {
    return events;
  }

  /** The event with this index. */
  public EventRow row(int event) {
    return rows.get(event);
  }

  /** The column of hashes, in place. */
  public long[] hashes() {
    return hashes;
  }

  /** The engine's wall clock at publishing, seconds since 1970; NaN when not given. */
  public double timestampSeconds() {
    return timestampSeconds;
  }

  /** -1 when not given. */
  public int dataParallelRank() {
    return dataParallelRank;
  }

  /** How many events could not be read. */
  public int skipped() {
    int all = 0;
    for (int count : skipped) {
      all += count;
    }
    return all;
  }

  /** How many could not be read for this reason. */
  public int skipped(SkipReason reason) {
    return skipped[reason.ordinal()];
  }

  /** Whether an event that could not be read may have taken blocks away. */
  public boolean mayHideRemovals() {
    return skipped(SkipReason.MALFORMED_REMOVED) + skipped(SkipReason.UNTYPED) > 0;
  }

  /** What was wrong with the first event that could not be read; empty when all were. */
  public String firstProblem() {
    return firstProblem;
  }

  int[] tokens() {
    return tokens;
  }

  /** Where the tokens of the next event begin. */
  int tokenEnd() {
    return tokenEnd;
  }

  /** Starts a batch whose payload has this length. */
  void begin(int payloadBytes) {
    maxBytes = SPARE_BYTES + (long) BYTES_PER_BYTE * payloadBytes;
    keyBytes = 0;
    Arrays.fill(skipped, 0);
    events = 0;
    hashEnd = 0;
    tokenEnd = 0;
    timestampSeconds = Double.NaN;
    dataParallelRank = -1;
    firstProblem = "";
  }

  /** The row of the next event, which counts once it is {@link #add added}. */
  EventRow next(EventRow.Kind kind) {
    if (events == rows.size()) {
      rows.add(new EventRow(this));
    }
    EventRow row = rows.get(events);
    row.kind = kind;
    row.hashFrom = hashEnd;
    row.hashCount = 0;
    row.tokenFrom = tokenEnd;
    row.tokenCount = 0;
    row.owner = null;
    row.wideIds = null;
    return row;
  }

  void add(EventRow row) {
    events++;
    hashEnd += row.kind == EventRow.Kind.STORED ? 2 * row.hashCount : row.hashCount;
    tokenEnd += row.tokenCount;
  }

  /** Refuses what would take too much together with the events added. */
  void requireRoom(long bytes) throws WireException {
    long taken = (long) Long.BYTES * hashEnd + (long) Integer.BYTES * tokenEnd;
    if (taken + (long) ROW_BYTES * events + keyBytes + bytes > maxBytes) {
      throw new WireException(0, "more than " + maxBytes + " bytes when decoded");
    }
  }

  /** Something beside the columns takes so many bytes. */
  void takes(long bytes) throws WireException {
    requireRoom(bytes);
    keyBytes += bytes;
  }

  /** The column of hashes, with room for as many more behind those of the events added. */
  long[] hashesWithRoom(int more) throws WireException {
    requireRoom((long) Long.BYTES * more);
    if (more > hashes.length - hashEnd) {
      hashes = Arrays.copyOf(hashes, Math.max(hashEnd + more, 2 * hashes.length));
    }
    return hashes;
  }

  /** The column of tokens, with room for as many more behind those of the events added. */
  int[] tokensWithRoom(int more) throws WireException {
    requireRoom((long) Integer.BYTES * more);
    if (more > tokens.length - tokenEnd) {
      tokens = Arrays.copyOf(tokens, Math.max(tokenEnd + more, 2 * tokens.length));
    }
    return tokens;
  }

  void skip(SkipReason reason, String problem) {
    skipped[reason.ordinal()]++;
    if (firstProblem.isEmpty()) {
      firstProblem = problem;
    }
  }

  /** Lets go of what a usual batch does not need. */
  void trim() {
    if (tokens.length > KEPT_TOKENS) {
      tokens = new int[KEPT_TOKENS];
    }
    if (hashes.length > KEPT_HASHES) {
      hashes = new long[KEPT_HASHES];
    }
    if (rows.size() > KEPT_ROWS) {
      rows.subList(KEPT_ROWS, rows.size()).clear();
    }
  }

  /** Why an event of a batch was not read. */
  public enum SkipReason {
    /** An event type that is not known here. */
    UNKNOWN_TYPE,
    /** Neither array nor map, or without a type. */
    UNTYPED,
    /** A store with a field missing or of a wrong type: its blocks are not credited. */
    MALFORMED_STORED,
    /**
     * A removal with a field missing or of a wrong type: blocks may be credited that are gone, so
     * the stream cannot be believed any more.
     */
    MALFORMED_REMOVED;

    /** The constant as it appears in metrics. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
