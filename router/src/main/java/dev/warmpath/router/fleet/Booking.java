package dev.warmpath.router.fleet;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request that a router has sent to an engine, as it tells the other routers: enough to count it
 * as one of theirs, to let its blocks be expected, and to give both back when it is over or its
 * router is gone.
 *
 * <p>Immutable.
 *
 * @param id of its router's requests; none has it again
 * @param engine the engine's name
 * @param promptTokens how long its prompt is, or may be
 * @param uncachedTokens how many of these the engine most likely computes
 * @param streamed whether its response will show when the prompt is computed
 * @param known whether its tokens are more than a guess
 * @param heldBlocks leading blocks that the engine had already
 * @param marks of its prompt, from the first block behind those; null if none is on its way
 * @param note what the policy wants remembered of it
 */
@SuppressWarnings("ArrayRecordComponent") // not changed by anybody
public record Booking(
    long id,
    String engine,
    int promptTokens,
    int uncachedTokens,
    boolean streamed,
    boolean known,
    int heldBlocks,
    @Nullable PromptMarks marks,
    long[] note) {

  /** Longer notes are refused. */
  public static final int LONGEST_NOTE = 16;

  private static final long[] NO_NOTE = {};

  public Booking {
    if (id < 0 || promptTokens < 0 || uncachedTokens < 0 || uncachedTokens > promptTokens) {
      throw new IllegalArgumentException(
          "id=" + id + " promptTokens=" + promptTokens + " uncachedTokens=" + uncachedTokens);
    }
    if (heldBlocks < 0 || (marks != null && marks.at(0) != heldBlocks)) {
      throw new IllegalArgumentException("heldBlocks=" + heldBlocks);
    }
    if (note.length > LONGEST_NOTE) {
      throw new IllegalArgumentException("note=" + note.length);
    }
  }

  /** The same without a note, for whom it was remembered already. */
  public Booking withoutNote() {
    return note.length == 0
        ? this
        : new Booking(
            id, engine, promptTokens, uncachedTokens, streamed, known, heldBlocks, marks, NO_NOTE);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Booking booking
        && id == booking.id
        && engine.equals(booking.engine)
        && promptTokens == booking.promptTokens
        && uncachedTokens == booking.uncachedTokens
        && streamed == booking.streamed
        && known == booking.known
        && heldBlocks == booking.heldBlocks
        && Objects.equals(marks, booking.marks)
        && Arrays.equals(note, booking.note);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(id);
  }
}
