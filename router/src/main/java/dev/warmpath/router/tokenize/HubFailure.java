package dev.warmpath.router.tokenize;

import java.io.IOException;
import java.io.Serial;
import java.net.HttpURLConnection;
import java.util.Objects;

/**
 * Something that went wrong on the way to the hub, in words that hold no credentials: neither the
 * token nor the query of a signed address.
 *
 * <p>Immutable.
 */
final class HubFailure extends IOException {

  @Serial private static final long serialVersionUID = 1L;

  private static final int NOT_FOUND = 404;

  /** Whether the same request may go well later. */
  private final boolean passing;

  /** Milliseconds that the server asked to wait, or 0. */
  private final long waitMillis;

  private HubFailure(String message, boolean passing, long waitMillis) {
    super(message);
    this.passing = passing;
    this.waitMillis = waitMillis;
  }

  static HubFailure lasting(String message) {
    return new HubFailure(message, false, 0);
  }

  static HubFailure passing(String message) {
    return new HubFailure(message, true, 0);
  }

  /** What a status that is no success means for {@code what}. */
  static HubFailure of(HttpURLConnection response, HubPlace place, boolean withToken, String what)
      throws IOException {
    int status = response.getResponseCode();
    String where = " (HTTP " + status + " of " + response.getURL().getHost() + ")";
    String code = header(response, "X-Error-Code");
    if (status == 401 || status == 403 || code.equals("GatedRepo")) {
      return lasting(refused(place, withToken) + where);
    }
    if (status == NOT_FOUND) {
      return lasting(notFound(place, code, what) + where);
    }
    boolean passing = status == 408 || status == 429 || status >= 500;
    return new HubFailure("no " + what + where, passing, waitMillis(response));
  }

  private static String refused(HubPlace place, boolean withToken) {
    return withToken
        ? place.repository()
            + " does not open to HF_TOKEN: the token is wrong, or its owner was not granted access"
        : place.repository()
            + " is gated, private or not there: set HF_TOKEN to a token of somebody with access";
  }

  private static String notFound(HubPlace place, String code, String what) {
    return switch (code) {
      case "RepoNotFound" -> "there is no repository " + place.repository();
      case "RevisionNotFound" -> place.repository() + " has no revision '" + place.revision() + "'";
      default ->
          "%s has no %s; is the name right, and the revision '%s'?"
              .formatted(place.repository(), what, place.revision());
    };
  }

  private static long waitMillis(HttpURLConnection response) {
    String seconds = header(response, "Retry-After");
    return seconds.matches("[0-9]{1,6}") ? Long.parseLong(seconds) * 1000 : 0;
  }

  private static String header(HttpURLConnection response, String name) {
    return Objects.requireNonNullElse(response.getHeaderField(name), "");
  }

  boolean isPassing() {
    return passing;
  }

  long waitMillis() {
    return waitMillis;
  }
}
