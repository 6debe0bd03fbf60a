package dev.warmpath.eventingest.capture;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The first value of a capture file.
 *
 * @param created when the capture began, RFC 3339
 * @param note what it shows
 * @param streams the recorded engines
 * @param fields every field of the header, also those that are not known here
 */
public record CaptureHeader(
    String created,
    String note,
    List<CaptureStream> streams,
    Map<String, @Nullable Object> fields) {

  static final String FORMAT = "warmpath-capture";
  static final long VERSION = 1;

  public CaptureHeader {
    streams = List.copyOf(streams);
  }

  /** The header of a new capture. */
  public static CaptureHeader of(Instant created, String note, List<CaptureStream> streams) {
    return new CaptureHeader(created.toString(), note, streams, Map.of());
  }

  /** The stream with this id, if the header has it. */
  public Optional<CaptureStream> stream(int id) {
    return streams.stream().filter(stream -> stream.id() == id).findFirst();
  }

  /**
   * One recorded engine, as the header describes it.
   *
   * @param id the number by which records refer to it
   * @param replica the replica's name
   * @param dpRank its data-parallel rank
   * @param engine "vllm", "sglang", "trtllm" or "warmpath-sim"
   * @param model the served model, empty when unknown
   * @param fields every field of the header's entry, also those that are not known here
   */
  public record CaptureStream(
      int id,
      String replica,
      int dpRank,
      String engine,
      String model,
      Map<String, @Nullable Object> fields) {

    /** A stream of which no more is known than a live recorder can know. */
    public static CaptureStream live(int id, String replica, String engine, String model) {
      return new CaptureStream(id, replica, 0, engine, model, Map.of());
    }

    /** The same with what was configured at the engine. */
    public CaptureStream with(Map<String, Object> config) {
      return new CaptureStream(id, replica, dpRank, engine, model, Map.of("config", config));
    }

    /** The engine's release, empty when not said. */
    public String engineVersion() {
      return fields.get("engine_version") instanceof String version ? version : "";
    }

    /** Tokens a block, or 0 when not said. */
    public int blockSizeTokens() {
      return fields.get("block_size") instanceof Long size ? Math.toIntExact(size) : 0;
    }

    /** The engine's {@code config} entry {@code key}, or null. */
    public @Nullable Object config(String key) {
      return fields.get("config") instanceof Map<?, ?> config ? config.get(key) : null;
    }
  }
}
