package dev.warmpath.router.capture;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.capture.CaptureStream;
import dev.warmpath.eventingest.sglang.SglangRules;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The recorded engines and their numbers in a capture.
 *
 * <p>Immutable.
 */
final class StreamNumbers {

  static final int NONE = -1;

  private final Map<EngineId, Integer> numbers = new HashMap<>();
  private final List<CaptureStream> streams = new ArrayList<>();

  StreamNumbers(List<EngineSource> engines) {
    for (EngineSource engine : engines) {
      numbers.put(engine.id(), streams.size());
      streams.add(stream(streams.size(), engine));
    }
  }

  /** The engine's number, or {@link #NONE} if it has no event stream. */
  int of(EngineId engine) {
    return numbers.getOrDefault(engine, NONE);
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
