package dev.warmpath.router.proxy;

import java.util.HexFormat;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names requests: by the client's own id if it is harmless in headers and logs, else by a new one.
 *
 * <p>Thread-safe if its source of randomness is.
 */
final class RequestIds {

  static final String HEADER = "x-request-id";

  private static final Pattern HARMLESS = Pattern.compile("[A-Za-z0-9._:-]{1,128}");

  private final RandomGenerator random;

  RequestIds(RandomGenerator random) {
    this.random = random;
  }

  String accept(@Nullable String given) {
    return given != null && HARMLESS.matcher(given).matches() ? given : fresh();
  }

  private String fresh() {
    HexFormat hex = HexFormat.of();
    return "wp-" + hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }
}
