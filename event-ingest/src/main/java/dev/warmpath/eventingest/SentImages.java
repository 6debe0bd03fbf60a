package dev.warmpath.eventingest;

import dev.warmpath.kvindex.block.PromptKeys;
import java.util.List;
import java.util.Set;

/**
 * A chat with images that is sent to an engine, as far as it is known: what the engine stores of it
 * shows the rest.
 *
 * <p>Immutable.
 */
public final class SentImages {

  private static final int PLACE_BYTES = 300;

  private final Object request;
  private final int[] ids;
  private final PromptKeys keys;
  private final List<Place> places;
  private final long bytes;

  /**
   * Where an image stands.
   *
   * @param from its first token among the chat's
   * @param placedTokens how many of the chat's tokens stand for it; one if they are not known
   * @param isSure whether these are all of its tokens; else they are taken to be, or not known
   * @param pad the token of which all of it are, −1 if that is not known
   * @param identifiers what the engine may call it; empty for anything
   * @param source what is learned about; equal for equal images
   */
  public record Place(
      int from, int placedTokens, boolean isSure, int pad, Set<String> identifiers, Source source) {

    public Place {
      identifiers = Set.copyOf(identifiers);
    }
  }

  /** An image about which something may be learned. Implementations are thread-safe. */
  public interface Source {

    /**
     * The engine has stored the image.
     *
     * @param identifier what it calls it
     * @param run the tokens that stand for it, not to be changed
     */
    void learned(String identifier, int[] run);

    /**
     * What was learned last may have been another chat's image.
     *
     * @param identifier what the engine was said to call it
     */
    void withdrawn(String identifier);
  }

  /**
   * @param request by what the chat is known when it ends; compared as it does itself
   * @param ids not to be changed
   * @param keys with items for as many of the first places as are taken to be known
   */
  public SentImages(Object request, int[] ids, PromptKeys keys, List<Place> places) {
    this.request = request;
    this.ids = ids;
    this.keys = keys;
    this.places = List.copyOf(places);
    long weight = (long) Integer.BYTES * ids.length;
    for (Place place : this.places) {
      weight += PLACE_BYTES + place.identifiers().stream().mapToInt(String::length).sum();
    }
    bytes = weight;
  }

  /** What it takes in memory, about. */
  public long bytes() {
    return bytes;
  }

  public Object request() {
    return request;
  }

  /** The chat's tokens, not to be changed. */
  public int[] ids() {
    return ids;
  }

  public PromptKeys keys() {
    return keys;
  }

  public List<Place> places() {
    return places;
  }
}
