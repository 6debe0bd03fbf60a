package dev.warmpath.router.prompt;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.dispatch.PreparedRequest;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the router understood of a request's body.
 *
 * <p>Immutable, if nobody changes the tree.
 *
 * @param request the request as it is dispatched, and as it stays until it is logged
 * @param previousResponse the stored response that it continues, or null
 * @param models all models that it may be read to name, as it names them: {@link BodyFields#models}
 * @param tree what the body was parsed to, of use until the prompt is answered; null where nothing
 *     was built
 * @param renamed how engines get it, if that is not as it came
 */
public record ReadRequest(
    PreparedRequest request,
    @Nullable String previousResponse,
    Set<String> models,
    @Nullable ObjectNode tree,
    @Nullable Renamed renamed) {

  /**
   * A request for another model than the client's.
   *
   * @param asked the model that the client names
   * @param given the model that the engine is asked for
   * @param body the client's with that model
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Renamed(String asked, String given, byte[] body) {

    /** Without its body, which is counted elsewhere and goes before it. */
    public Renamed namesAlone() {
      return new Renamed(asked, given, new byte[0]);
    }
  }

  /** The body for engines, which came as {@code whole}. */
  public byte[] body(byte[] whole) {
    return renamed == null ? whole : renamed.body();
  }

  /** The same with a prompt that was found out elsewhere. */
  ReadRequest with(PreparedRequest found) {
    return new ReadRequest(found, previousResponse, models, tree, renamed);
  }
}
