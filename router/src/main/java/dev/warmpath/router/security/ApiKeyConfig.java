package dev.warmpath.router.security;

import dev.warmpath.router.config.Key;
import java.util.List;
import java.util.regex.Pattern;

/**
 * One client of the file of API keys.
 *
 * <p>Immutable.
 */
public record ApiKeyConfig(
    @Key(required = true) String name,
    @Key(required = true) List<String> sha256,
    @Key List<String> models,
    @Key(defaultValue = "0", min = -1_000_000, max = 1_000_000) int priority,
    @Key(defaultValue = "0", max = 1_000_000_000) int requestsPerMinute,
    @Key(defaultValue = "0", max = 2_000_000_000) int tokensPerMinute) {

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
  private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");

  public ApiKeyConfig {
    sha256 = List.copyOf(sha256);
    models = List.copyOf(models);
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "'name' must be letters, digits, '.', '_', '-', at most 63");
    }
    if (sha256.isEmpty()) {
      throw new IllegalArgumentException("'sha256' of '" + name + "' has no hash");
    }
    if (!sha256.stream().allMatch(hash -> HASH.matcher(hash).matches())) {
      throw new IllegalArgumentException(
          "'sha256' of '" + name + "' must be 64 hexadecimal digits in lower case");
    }
  }
}
