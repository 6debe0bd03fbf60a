package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The variables of one call of a function: the template itself, a macro, a call block, a recursive
 * loop. Each scope within has its own slots; an empty slot is a variable not set yet.
 *
 * <p>Confined to the thread of its render.
 */
final class Frame {
  private final @Nullable Object[] slots;
  private final @Nullable Frame parent;
  private final Context context;

  /** What a render has from outside. */
  record Context(Map<String, ?> variables, Map<String, Callable> globals, Budget budget) {}

  Frame(Context context, int size) {
    this(context, null, size);
  }

  private Frame(Context context, @Nullable Frame parent, int size) {
    this.context = context;
    this.parent = parent;
    this.slots = new @Nullable Object[size];
  }

  /** The frame of a function that was defined in this one. */
  Frame inner(int size) {
    return new Frame(context, this, size);
  }

  Budget budget() {
    return context.budget();
  }

  @Nullable Object get(int slot) {
    return slots[slot];
  }

  void set(int slot, @Nullable Object value) {
    slots[slot] = value;
  }

  void clear(int from, int to) {
    Arrays.fill(slots, from, to, null);
  }

  /** The frame so many functions further out. */
  Frame outer(int hops) {
    Frame frame = this;
    for (int i = 0; i < hops && frame.parent != null; i++) {
      frame = frame.parent;
    }
    return frame;
  }

  /** A variable of the request or a global function; null when there is none. */
  @Nullable Object fromContext(String name) {
    Object value = context.variables().get(name);
    if (value != null || context.variables().containsKey(name)) {
      return Values.of(value);
    }
    return context.globals().get(name);
  }
}
