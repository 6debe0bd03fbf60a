package dev.warmpath.router.auth;

import dev.warmpath.router.config.read.Key;
import java.util.List;
import java.util.regex.Pattern;

/**
 * One client of the file of API keys.
 *
 * <p>Immutable.
 */
public record ApiKeyConfig(
    @Key("required | | Client's name in metrics and logs.") String name,
    @Key("required | | Hexadecimal SHA-256 of its keys; several while one is replaced.")
        List<String> sha256,
    @Key(" | | Allowed models, one of which each request must name; empty: all.")
        List<String> models,
    @Key(
            "0 | -1000000 … 1000000 | Queue priority, lower first; `queue.priority-header` can only worsen it.")
        int priority,
    @Key("0 | 0 … 1000000000 | Max requests a minute; 0: any.") int requestsPerMinute,
    @Key("0 | 0 … 2000000000 | Max tokens a minute, prompts and answers; 0: any.")
        int tokensPerMinute) {

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
