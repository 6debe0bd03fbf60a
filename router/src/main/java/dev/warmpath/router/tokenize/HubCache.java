package dev.warmpath.router.tokenize;

import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Models in the cache that Hugging Face's own tools keep, which may be mounted from elsewhere.
 * Nothing is downloaded.
 *
 * <p>Immutable.
 */
final class HubCache {

  static final String SCHEME = "hf://";

  /** Names and revisions as the hub has them; none can leave the cache's directory. */
  private static final Pattern PLACE =
      Pattern.compile(
          "hf://([A-Za-z0-9][\\w.-]*)/([A-Za-z0-9][\\w.-]*)(?:@([A-Za-z0-9][\\w.-]*))?");

  private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}");
  private static final String USUAL_REVISION = "main";

  private final Path directory;

  HubCache(Path directory) {
    this.directory = directory;
  }

  /** Where the environment says that the cache is. */
  static HubCache of(Map<String, String> environment, String home) {
    String cache = environment.get("HF_HUB_CACHE");
    if (cache != null && !cache.isBlank()) {
      return new HubCache(Path.of(cache));
    }
    String hub = environment.get("HF_HOME");
    return new HubCache(
        hub != null && !hub.isBlank()
            ? Path.of(hub, "hub")
            : Path.of(home, ".cache", "huggingface", "hub"));
  }

  /**
   * The directory with the files of {@code hf://ORGANISATION/NAME[@REVISION]}; without a revision
   * that of {@code main}.
   *
   * @throws TokenizerLoadException if it is not there
   */
  Path find(String place) {
    Matcher named = PLACE.matcher(place);
    if (!named.matches()) {
      throw new TokenizerLoadException(Path.of(place), "must be hf://ORGANISATION/NAME[@REVISION]");
    }
    Path model = directory.resolve("models--" + named.group(1) + "--" + named.group(2));
    String revision = named.group(3) == null ? USUAL_REVISION : named.group(3);
    Path snapshot = model.resolve("snapshots").resolve(commit(model, revision));
    if (!Files.isDirectory(snapshot)) {
      throw new TokenizerLoadException(
          snapshot,
          "not in the cache; fetch it with: hf download %s/%s --revision %s"
              .formatted(named.group(1), named.group(2), revision));
    }
    return snapshot;
  }

  private static String commit(Path model, String revision) {
    Path reference = model.resolve("refs").resolve(revision);
    if (COMMIT.matcher(revision).matches() || !Files.isRegularFile(reference)) {
      return revision;
    }
    try {
      String commit = Files.readString(reference).strip();
      if (COMMIT.matcher(commit).matches()) {
        return commit;
      }
    } catch (IOException e) {
      throw new TokenizerLoadException(reference, "cannot be read: " + e, e);
    }
    throw new TokenizerLoadException(reference, "holds no commit");
  }
}
