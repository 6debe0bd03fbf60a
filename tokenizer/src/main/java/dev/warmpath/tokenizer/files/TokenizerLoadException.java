package dev.warmpath.tokenizer.files;

import java.nio.file.Path;

/**
 * Tokenizer files that are missing or unusable; the message names the file or the place and says
 * what is wrong.
 */
public final class TokenizerLoadException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** A place that is no file. */
  public TokenizerLoadException(String place, String problem) {
    super(place + ": " + problem);
  }

  public TokenizerLoadException(String place, String problem, Throwable cause) {
    super(place + ": " + problem, cause);
  }

  public TokenizerLoadException(Path file, String problem) {
    super(file + ": " + problem);
  }

  public TokenizerLoadException(Path file, String problem, Throwable cause) {
    super(file + ": " + problem, cause);
  }
}
