package dev.warmpath.router.tokenize;

import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.io.IOException;
import java.nio.file.Path;
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
}
