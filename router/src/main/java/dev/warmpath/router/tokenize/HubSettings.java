package dev.warmpath.router.tokenize;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the environment says about the hub, in the variables of Hugging Face's own tools.
 *
 * <p>Immutable.
 *
 * @param cache the directory of the cache
 * @param endpoint address of the hub, without a slash at its end
 * @param token shown to the hub's own address and to nobody else; null: none
 * @param offline whether nothing may be downloaded
 */
record HubSettings(Path cache, String endpoint, @Nullable String token, boolean offline) {

  private static final String PUBLIC_HUB = "https://huggingface.co";
  private static final Set<String> YES = Set.of("1", "on", "yes", "true");

  /** The settings of a process with this environment, of the user with this home. */
  static HubSettings of(Map<String, String> environment, String home) {
    String endpoint = text(environment, "HF_ENDPOINT");
    return new HubSettings(
        cache(environment, home),
        (endpoint == null ? PUBLIC_HUB : endpoint).replaceAll("/+$", ""),
        text(environment, "HF_TOKEN"),
        isOn(environment, "HF_HUB_OFFLINE") || isOn(environment, "TRANSFORMERS_OFFLINE"));
  }

  private static Path cache(Map<String, String> environment, String home) {
    String cache = text(environment, "HF_HUB_CACHE");
    if (cache != null) {
      return Path.of(cache);
    }
    String own = text(environment, "HF_HOME");
    if (own != null) {
      return Path.of(own, "hub");
    }
    String all = text(environment, "XDG_CACHE_HOME");
    return (all == null ? Path.of(home, ".cache") : Path.of(all)).resolve("huggingface/hub");
  }

  private static boolean isOn(Map<String, String> environment, String name) {
    String value = text(environment, name);
    return value != null && YES.contains(value.toLowerCase(Locale.ROOT));
  }

  private static @Nullable String text(Map<String, String> environment, String name) {
    String value = environment.getOrDefault(name, "").strip();
    return value.isEmpty() ? null : value;
  }

  /** Without the token. */
  @Override
  public String toString() {
    return "HubSettings[cache=" + cache + ", endpoint=" + endpoint + ", offline=" + offline + "]";
  }
}
