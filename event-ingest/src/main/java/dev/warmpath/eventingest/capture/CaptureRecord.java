package dev.warmpath.eventingest.capture;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One record of a capture file, in the order in which things were seen.
 *
 * <p>Maps hold plain values: String, Boolean, Long (BigInteger beyond), Double, byte[], List, Map
 * and null.
 *
 * <p>Immutable, as long as nobody writes to the arrays.
 */
public sealed interface CaptureRecord {

  /** The stream of a record that belongs to none. */
  int NO_STREAM = -1;

  /** Seconds since the capture began, by a monotonic clock. */
  double timeSeconds();

  /** The {@link CaptureHeader.CaptureStream#id} it belongs to, or {@link #NO_STREAM}. */
  int stream();

  /**
   * One live message, its frames untouched.
   *
   * @param sequence the number in the second frame, unsigned
   */
  @SuppressWarnings("ArrayRecordComponent") // frames are looked at, never compared
  record Events(double timeSeconds, int stream, byte[] topic, long sequence, byte[] payload)
      implements CaptureRecord {}

  /**
   * One answer of the replay socket.
   *
   * @param startSequence the first number asked for
   * @param replies the frames of each reply after the empty delimiter, the end marker included
   */
  record Replay(double timeSeconds, int stream, long startSequence, List<List<byte[]>> replies)
      implements CaptureRecord {}

  /**
   * A request was dispatched here.
   *
   * @param body {@code token_ids} and what else of {@code lora_name}, {@code cache_salt}, {@code
   *     messages}, {@code prompt_logprobs}, {@code extra_key}, … was used
   */
  record Request(
      double timeSeconds, int stream, String requestId, Map<String, @Nullable Object> body)
      implements CaptureRecord {

    /** The exact prompt ids; null when the body has none or one is outside of int. */
    public int @Nullable [] tokenIds() {
      if (!(body.get("token_ids") instanceof List<?> list)) {
        return null;
      }
      int[] ids = new int[list.size()];
      for (int i = 0; i < ids.length; i++) {
        if (!(list.get(i) instanceof Long id) || id != id.intValue()) {
          return null;
        }
        ids[i] = id.intValue();
      }
      return ids;
    }

    /** What a router that recorded itself predicted to be cached; null if it did not. */
    public @Nullable Long predictedTokens() {
      return body.get("predicted_cached_tokens") instanceof Long tokens ? tokens : null;
    }

    /** A text field of the body, or null. */
    public @Nullable String text(String field) {
      return body.get(field) instanceof String text ? text : null;
    }
  }

  /**
   * A request was answered.
   *
   * @param result {@code status}, {@code prompt_tokens}, {@code cached_tokens}, {@code
   *     completion_tokens}
   */
  record Response(
      double timeSeconds, int stream, String requestId, Map<String, @Nullable Object> result)
      implements CaptureRecord {

    /** How long the prompt was as the engine counts it; null when it did not say. */
    public @Nullable Long promptTokens() {
      return result.get("prompt_tokens") instanceof Long tokens ? tokens : null;
    }

    /** How much of the prompt the engine took from its cache; null when it did not say. */
    public @Nullable Long cachedTokens() {
      return result.get("cached_tokens") instanceof Long tokens ? tokens : null;
    }
  }

  /** Something that whoever recorded wants to be known, such as {@code quiescent}. */
  record Mark(double timeSeconds, int stream, String name, Map<String, @Nullable Object> detail)
      implements CaptureRecord {}
}
