package dev.warmpath.router.tokenize;

import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A model of the hub: {@code hf://ORGANISATION/NAME[@REVISION]}.
 *
 * <p>Immutable.
 *
 * @param organisation who publishes it
 * @param name its name there
 * @param revision a branch, a tag or a commit
 */
public record HubPlace(String organisation, String name, String revision) {

  private static final String SCHEME = "hf://";
  private static final String USUAL_REVISION = "main";

  /** Names and revisions as the hub has them; none can leave the cache's directory. */
  private static final Pattern PLACE =
      Pattern.compile(
          "hf://([A-Za-z0-9][\\w.-]*)/([A-Za-z0-9][\\w.-]*)(?:@([A-Za-z0-9][\\w.-]*))?");

  /** Whether {@code place} speaks of the hub at all. */
  public static boolean isOne(String place) {
    return place.startsWith(SCHEME);
  }

  /**
   * Reads {@code hf://ORGANISATION/NAME[@REVISION]}.
   *
   * @throws TokenizerLoadException if it is none
   */
  public static HubPlace parse(String place) {
    Matcher named = PLACE.matcher(place);
    if (!named.matches()) {
      throw new TokenizerLoadException(place, "must be hf://ORGANISATION/NAME[@REVISION]");
    }
    String revision = named.group(3) == null ? USUAL_REVISION : named.group(3);
    return new HubPlace(named.group(1), named.group(2), revision);
  }

  /** {@code ORGANISATION/NAME}. */
  public String repository() {
    return organisation + "/" + name;
  }

  /** The name of its folder in the cache. */
  String folder() {
    return "models--" + organisation + "--" + name;
  }

  @Override
  public String toString() {
    return SCHEME + repository() + "@" + revision;
  }
}
