package dev.warmpath.router.proxy;

import java.util.HexFormat;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Names requests: by the client's own id if it is harmless in headers and logs, else by a new one.
 *
 * <p>Thread-safe if its source of randomness is.
 */
public final class RequestIds {

  public static final String HEADER = "x-request-id";

  private static final int LONGEST = 128;

  /** Some of vLLM's connectors read the addresses of their peers from an id. */
  private static final String ADDRESS = "_addr_";

  private final RandomGenerator random;

  public RequestIds(RandomGenerator random) {
    this.random = random;
  }

  /** The given id, or a new one. */
  public String accept(@Nullable String given) {
    return given != null && isHarmless(given) ? given : fresh();
  }

  /** Letters, digits, dots, colons, hyphens and underscores, not too many, and no addresses. */
  private static boolean isHarmless(String id) {
    for (int i = 0; i < id.length(); i++) {
      char c = id.charAt(i);
      boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!letter && !(c >= '0' && c <= ':') && c != '-' && c != '.' && c != '_') {
        return false;
      }
    }
    return !id.isEmpty() && id.length() <= LONGEST && !id.contains(ADDRESS);
  }

  private String fresh() {
    HexFormat hex = HexFormat.of();
    return "wp-" + hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }
}
