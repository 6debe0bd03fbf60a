package dev.warmpath.tokenizer.template.builtin;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.value.Attributes;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.PyIterator;
import dev.warmpath.tokenizer.template.value.Undefined;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A running loop, which its body sees as {@code loop}. It looks one item ahead, and at all of them
 * only when asked for the length of something that does not know it.
 *
 * <p>Confined to the thread of its render.
 */
public final class LoopState implements Attributes {
  private final Budget budget;
  private Iterator<Object> items;
  private long length;
  private int index0 = -1;
  private @Nullable Object ahead;
  private @Nullable Object current;
  private @Nullable Object previous;

  /**
   * A loop that has not begun.
   *
   * @param length -1 when not known beforehand
   */
  public LoopState(Budget budget, Iterator<Object> items, long length) {
    this.budget = budget;
    this.items = items;
    this.length = length;
  }

  /** The length of what a loop goes over, or -1. */
  public static long knownLength(Budget budget, Object items) {
    return items instanceof PyIterator ? -1 : Iteration.length(budget, items);
  }

  public boolean advance() {
    if (!hasNext()) {
      return false;
    }
    previous = current;
    current = ahead;
    ahead = null;
    index0++;
    return true;
  }

  private boolean hasNext() {
    if (ahead == null && items.hasNext()) {
      ahead = items.next();
    }
    return ahead != null;
  }

  public Object current() {
    if (current == null) {
      throw new IllegalStateException("index0=" + index0);
    }
    return current;
  }

  private long length() {
    if (length < 0) {
      List<Object> rest = new ArrayList<>();
      items.forEachRemaining(item -> {
        budget.elements(1);
        rest.add(item);
      });
      items = rest.iterator();
      length = index0 + 1L + (ahead == null ? 0 : 1) + rest.size();
    }
    return length;
  }

  @Override
  public @Nullable Object attribute(String name) {
    return switch (name) {
      case "index" -> index0 + 1L;
      case "index0" -> (long) index0;
      case "first" -> index0 == 0;
      case "last" -> !hasNext();
      case "length" -> length();
      case "revindex" -> length() - index0;
      case "revindex0" -> length() - index0 - 1;
      case "depth" -> 1L;
      case "depth0" -> 0L;
      case "previtem" ->
          previous == null ? Undefined.because("there is no previous item") : previous;
      case "nextitem" ->
          hasNext() && ahead != null ? ahead : Undefined.because("there is no next item");
      default -> {
        Unsupported.LOOP_ATTRIBUTE.check(name);
        yield null;
      }
    };
  }
}
