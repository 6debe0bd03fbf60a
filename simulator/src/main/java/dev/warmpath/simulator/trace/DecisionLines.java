package dev.warmpath.simulator.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Lines of a router's decision log. A request of a session comes after the latest request of that
 * session which was over when it came, as much later as it did; so requests of a session that
 * overlapped are lanes of their own. Every other request comes at its own time. Requests that no
 * engine answered, or of which the lengths are not known, are left out.
 */
public final class DecisionLines implements TraceFormat.Lines {

  static final int BLOCK_TOKENS = 64;

  private static final double MILLIS = 1e3;

  /** A request and the numbers of its blocks, as runs of a first one and a count. */
  private record Row(LoggedRequest request, List<int[]> runs) {}

  /** The last request of a lane: its row in the trace, and when it was over. */
  private record Last(int row, double endMillis) {}

  private final PieceNumbers numbers = new PieceNumbers();
  private final Map<String, int[]> piecesOfSession = new HashMap<>();
  private final List<Row> rows = new ArrayList<>();

  /** The trace of records in the order of their log. */
  public static Trace trace(String name, List<LoggedRequest> requests) {
    TraceBuilder trace = new TraceBuilder(name, BLOCK_TOKENS);
    DecisionLines lines = new DecisionLines();
    requests.forEach(lines::add);
    lines.end(trace);
    return trace.build();
  }

  @Override
  public void line(String text, TraceBuilder trace) {
    LoggedRequest request = LoggedRequest.parse(text);
    if (request != null) {
      add(request);
    }
  }

  private void add(LoggedRequest request) {
    LoggedRequest.Blocks blocks = request.blocks();
    int[] pieces = blocks == null ? new int[0] : pieces(request, blocks);
    if (request.isReplayable()) {
      rows.add(new Row(request, numbered(pieces)));
    }
  }

  private int[] pieces(LoggedRequest request, LoggedRequest.Blocks blocks) {
    String session = request.session() == null ? null : request.session() + "/" + request.model();
    int[] before = session == null ? new int[0] : piecesOfSession.getOrDefault(session, new int[0]);
    if (blocks.keep() > before.length) {
      throw new IllegalArgumentException(
          "'keep' is %d and the session's record before has %d: read files from their beginning"
              .formatted(blocks.keep(), before.length));
    }
    int[] pieces = Arrays.copyOf(before, blocks.keep() + blocks.others().size());
    for (int i = 0; i < blocks.others().size(); i++) {
      pieces[blocks.keep() + i] = blocks.others().get(i);
    }
    if (session != null) {
      piecesOfSession.put(session, pieces);
    }
    return pieces;
  }

  private List<int[]> numbered(int[] pieces) {
    List<int[]> runs = new ArrayList<>();
    int before = PieceNumbers.ROOT;
    for (int i = 0; i < pieces.length; i++) {
      int number = numbers.of(before, pieces[i]);
      if (i > 0 && number == before + 1) {
        runs.get(runs.size() - 1)[1]++;
      } else {
        runs.add(new int[] {number, 1});
      }
      before = number;
    }
    return runs;
  }

  @Override
  public void end(TraceBuilder trace) {
    rows.sort(Comparator.comparingLong(row -> row.request.arrivedMillis()));
    Map<String, List<Last>> lanes = new HashMap<>();
    Map<String, Integer> sessions = new HashMap<>();
    for (Row row : rows) {
      LoggedRequest request = row.request;
      String session = request.session();
      List<Last> ofSession =
          session == null
              ? new ArrayList<>()
              : lanes.computeIfAbsent(session, key -> new ArrayList<>());
      Last before = latest(ofSession, request.arrivedMillis());
      ofSession.remove(before);
      ofSession.add(new Last(trace.requests(), request.endMillis()));
      double since = before == null ? rows.get(0).request.arrivedMillis() : before.endMillis;
      trace.request(
          (request.arrivedMillis() - since) / MILLIS,
          before == null ? Trace.NONE : before.row,
          session == null ? Trace.NONE : sessions.computeIfAbsent(session, key -> sessions.size()),
          request.tokens().prompt(),
          request.tokens().answer());
      row.runs.forEach(run -> trace.blocks(run[0], run[1]));
    }
  }

  private static @Nullable Last latest(List<Last> lanes, long arrivedMillis) {
    return lanes.stream()
        .filter(last -> last.endMillis <= arrivedMillis)
        .max(Comparator.comparingDouble(Last::endMillis))
        .orElse(null);
  }

  /**
   * Numbers the blocks of prompts: equal hashes behind equal blocks get the same number. Behind one
   * block few others follow, so 32 bits tell them apart.
   *
   * <p>Single writer.
   */
  static final class PieceNumbers {

    public static final int ROOT = -1;

    private static final int NONE = -1;

    /* Open addressing with linear probing; a key is the number before and the hash. */
    private long[] keys = new long[1 << 10];
    private int[] numbers = emptied(1 << 10);
    private int size;

    /** The number of the block with {@code hash} behind the block {@code before}. */
    public int of(int before, int hash) {
      if (2 * size >= keys.length) {
        grow();
      }
      long key = (long) before << 32 | (hash & 0xffffffffL);
      int place = place(key);
      if (numbers[place] == NONE) {
        keys[place] = key;
        numbers[place] = size++;
      }
      return numbers[place];
    }

    private int place(long key) {
      int mask = keys.length - 1;
      int place = (int) ((key * 0x9e3779b97f4a7c15L) >>> 32) & mask;
      while (numbers[place] != NONE && keys[place] != key) {
        place = (place + 1) & mask;
      }
      return place;
    }

    private void grow() {
      long[] oldKeys = keys;
      int[] oldNumbers = numbers;
      keys = new long[2 * oldKeys.length];
      numbers = emptied(keys.length);
      for (int i = 0; i < oldKeys.length; i++) {
        if (oldNumbers[i] != NONE) {
          int place = place(oldKeys[i]);
          keys[place] = oldKeys[i];
          numbers[place] = oldNumbers[i];
        }
      }
    }

    private static int[] emptied(int length) {
      int[] numbers = new int[length];
      Arrays.fill(numbers, NONE);
      return numbers;
    }
  }
}
