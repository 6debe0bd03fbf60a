package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureOpener;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.CRC32C;

/** What two captures of the same engines heard otherwise: live messages by number. */
public final class CaptureDiff {

  /**
   * How the messages of one engine compare.
   *
   * @param engine the replica's name and rank
   * @param same in both, with the same bytes
   * @param onlyFirst in the first capture alone
   * @param onlySecond in the second alone
   * @param different in both, with other bytes
   * @param firstDifference the number of the first message that is not the same; −1 for none
   */
  public record EngineDiff(
      String engine,
      long same,
      long onlyFirst,
      long onlySecond,
      long different,
      long firstDifference) {

    /** Whether both heard the same. */
    public boolean isSame() {
      return firstDifference < 0;
    }
  }

  private CaptureDiff() {}

  /** Compares two files; engines are told apart by replica and rank. */
  public static List<EngineDiff> of(Path first, Path second, CaptureOpener opener)
      throws IOException {
    Map<String, Map<Long, List<Integer>>> one = digests(first, opener);
    Map<String, Map<Long, List<Integer>>> other = digests(second, opener);
    List<EngineDiff> diffs = new ArrayList<>();
    Set<String> engines = new TreeSet<>(one.keySet());
    engines.addAll(other.keySet());
    for (String engine : engines) {
      diffs.add(
          compare(
              engine, one.getOrDefault(engine, Map.of()), other.getOrDefault(engine, Map.of())));
    }
    return diffs;
  }

  private static EngineDiff compare(
      String engine, Map<Long, List<Integer>> first, Map<Long, List<Integer>> second) {
    long same = 0;
    long onlyFirst = 0;
    long onlySecond = 0;
    long different = 0;
    long firstDifference = -1;
    Set<Long> numbers = new TreeSet<>(first.keySet());
    numbers.addAll(second.keySet());
    for (long number : numbers) {
      List<Integer> others = new ArrayList<>(second.getOrDefault(number, List.of()));
      int alone = 0;
      for (Integer digest : first.getOrDefault(number, List.of())) {
        alone += others.remove((Object) digest) ? 0 : 1;
      }
      int pairs = Math.min(alone, others.size());
      same += first.getOrDefault(number, List.of()).size() - alone;
      different += pairs;
      onlyFirst += alone - pairs;
      onlySecond += others.size() - pairs;
      if (firstDifference < 0 && Math.max(alone, others.size()) > 0) {
        firstDifference = number;
      }
    }
    return new EngineDiff(engine, same, onlyFirst, onlySecond, different, firstDifference);
  }

  /** Digests of the live messages by number; one that came again has several. */
  private static Map<String, Map<Long, List<Integer>>> digests(Path file, CaptureOpener opener)
      throws IOException {
    Map<String, Map<Long, List<Integer>>> digests = new HashMap<>();
    try (CaptureReader reader = opener.open(file)) {
      Map<Integer, Map<Long, List<Integer>>> byStream = new HashMap<>();
      for (CaptureStream stream : reader.header().streams()) {
        String engine = stream.replica() + "/" + stream.dpRank();
        byStream.put(stream.id(), digests.computeIfAbsent(engine, name -> new HashMap<>()));
      }
      CaptureRecord record = reader.next();
      while (record != null) {
        Map<Long, List<Integer>> heard = byStream.get(record.stream());
        if (heard != null && record instanceof Events events) {
          heard
              .computeIfAbsent(events.sequence(), number -> new ArrayList<>(1))
              .add(digest(events.payload()));
        }
        record = reader.next();
      }
    }
    return digests;
  }

  private static int digest(byte[] payload) {
    CRC32C crc = new CRC32C();
    crc.update(payload);
    return (int) crc.getValue();
  }
}
