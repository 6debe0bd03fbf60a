package dev.warmpath.router.tokenize;

import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The files of models that are named by their place on the hub: from the cache, or else downloaded
 * into it.
 *
 * <p>Thread-safe.
 */
public final class HubFiles {

  /** Lets time pass. */
  interface Pause {
    void millis(long millis) throws InterruptedException;
  }

  /**
   * Time and its bounds; tests put their own in.
   *
   * @param idleMillis longest silence of a server
   * @param totalMillis longest time of a download
   */
  record Environment(LongSupplier nanoClock, Pause pause, int idleMillis, long totalMillis) {}

  private static final int IDLE_MILLIS = 30_000;
  private static final long TOTAL_MILLIS = 15 * 60_000;

  private final HubSettings settings;
  private final Environment environment;

  HubFiles(HubSettings settings, Environment environment) {
    this.settings = settings;
    this.environment = environment;
  }

  /** With the cache, the hub and the token that the environment of this process names. */
  public static HubFiles ofTheMachine() {
    return new HubFiles(
        HubSettings.of(System.getenv(), System.getProperty("user.home")),
        new Environment(System::nanoTime, Thread::sleep, IDLE_MILLIS, TOTAL_MILLIS));
  }

  /**
   * The directory with the files of {@code hf://ORGANISATION/NAME[@REVISION]}. Without a revision
   * that of {@code main}. What the cache has is taken as it is, and the hub is not asked.
   *
   * @throws TokenizerLoadException if it is neither there nor can be downloaded
   */
  public Path find(String place, HubListener listener) {
    HubPlace named = HubPlace.parse(place);
    HubCache cache = new HubCache(settings.cache(), named);
    Path found = cache.find();
    if (found != null) {
      return found;
    }
    if (settings.offline()) {
      throw new TokenizerLoadException(place, offline(named));
    }
    try {
      return new HubDownload(named, cache, settings, environment, listener).run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TokenizerLoadException(place, "the download was interrupted", e);
    } catch (IOException e) {
      throw new TokenizerLoadException(place, "not downloaded: " + reason(e), e);
    }
  }

  /**
   * The same directory if the cache has it; else null.
   *
   * @throws TokenizerLoadException if it is no place on the hub
   */
  public @Nullable Path cached(String place) {
    return new HubCache(settings.cache(), HubPlace.parse(place)).find();
  }

  private String offline(HubPlace place) {
    return "not in the cache %s, and HF_HUB_OFFLINE forbids to download it; fetch it with: hf download %s --revision %s"
        .formatted(settings.cache(), place.repository(), place.revision());
  }

  /** Failures of the hub explain themselves; those of the disk name a file. */
  private static String reason(Exception e) {
    return e instanceof HubFailure ? String.valueOf(e.getMessage()) : e.toString();
  }

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
}
