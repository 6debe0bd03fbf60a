package dev.warmpath.router.tokenize;

import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How the tokenizer of one model stands.
 *
 * <p>Immutable.
 *
 * @param model the model's name in requests
 * @param place where its files are, as configured
 * @param state of its loading
 * @param tokenizer null until it is ready
 * @param problem why the last attempt to load it failed, null if none did
 * @param failures attempts that failed
 * @param waitsForFiles whether there is no other attempt before its files change
 * @param loadMillis how long loading took, 0 until it is ready
 * @param download of its files from the hub
 * @param quarantined whether an engine was found to cut prompts otherwise, so that it is not used
 */
public record TokenizerStatus(
    String model,
    String place,
    State state,
    @Nullable ModelTokenizer tokenizer,
    @Nullable String problem,
    int failures,
    boolean waitsForFiles,
    long loadMillis,
    Download download,
    boolean quarantined) {

  /**
   * How the download of its files goes or went.
   *
   * @param bytes what is there
   * @param totalBytes of so many; 0 until that is known, and if nothing was downloaded
   * @param retries requests that failed and were sent again
   */
  public record Download(long bytes, long totalBytes, int retries) {

    static final Download NONE = new Download(0, 0, 0);

    boolean isUnderWay() {
      return bytes < totalBytes;
    }
  }

  /** What became of loading. */
  public enum State {
    /** Its first attempt is not over. */
    LOADING,
    /** As before, or once more, and its files are on their way from the hub. */
    DOWNLOADING,
    /** Requests are read with it. */
    READY,
    /** It could not be loaded; it is tried again later, or when its files change. */
    FAILED;

    /** The name in metrics and answers. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
