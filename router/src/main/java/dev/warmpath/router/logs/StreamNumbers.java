package dev.warmpath.router.logs;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.hashing.SglangRules;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The recorded engines and their numbers in a capture. An engine that is described otherwise than
 * before gets another number.
 *
 * <p>Thread-safe.
 */
final class StreamNumbers {

  static final int NONE = -1;

  /** So many engines a process records; those that are found later are left out. */
  static final int MOST = 4_096;

  private record Numbered(EngineSource engine, int number) {}

  private final Map<EngineId, Numbered> numbers = new ConcurrentHashMap<>();
  private final List<CaptureStream> streams = new CopyOnWriteArrayList<>();

  /**
   * Numbers an engine.
   *
   * @param prepare makes room for the next number before anybody sees it
   * @return false if there are too many
   */
  synchronized boolean add(EngineSource engine, Runnable prepare) {
    Numbered known = numbers.get(engine.id());
    if (known != null && known.engine.equals(engine)) {
      return true;
    }
    int number = streams.size();
    if (number == MOST) {
      numbers.remove(engine.id());
      return false;
    }
    prepare.run();
    streams.add(stream(number, engine));
    numbers.put(engine.id(), new Numbered(engine, number));
    return true;
  }

  /** The engine's number, or {@link #NONE} if it is not recorded. */
  int of(EngineId engine) {
    Numbered known = numbers.get(engine);
    return known == null ? NONE : known.number;
  }

  /** How many numbers are given. */
  int count() {
    return streams.size();
  }

  List<CaptureStream> streams() {
    return List.copyOf(streams);
  }

  private static CaptureStream stream(int number, EngineSource engine) {
    EngineRules rules = engine.rules();
    Map<String, @Nullable Object> config = new LinkedHashMap<>();
    config.put("dropped_blocks", (long) rules.droppedBlocks());
    config.put("removals", rules.removals().name());
    SglangRules sglang = rules.sglang();
    if (rules.dialect() == EngineDialect.SGLANG) {
      config.put("format", sglang.namespaces().format().name().toLowerCase(Locale.ROOT));
      config.put("lora_ids", sglang.namespaces().adapters());
      config.put("load_back_threshold", (long) sglang.loadBackTokens());
    }
    String kind = rules.dialect().name().toLowerCase(Locale.ROOT);
    EngineId id = engine.id();
    return new CaptureStream(
        number, id.replica(), id.dpRank(), kind, engine.model(), Map.of("config", config));
  }
}
