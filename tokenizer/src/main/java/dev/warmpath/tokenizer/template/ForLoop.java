package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.builtin.LoopState;
import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * A compiled loop. Its variables begin anew with each turn. As in Jinja2, {@code else} runs when no
 * turn came to its end.
 *
 * @param loopSlot where {@code loop} goes; -1 when nothing asks for it
 */
record ForLoop(
    Targets.Target target,
    @Nullable Filter filter,
    Exec body,
    Exec otherwise,
    Slots slots,
    int loopSlot) {

  /** A run of slots. */
  record Slots(int from, int to) {
    void clear(Frame frame) {
      frame.clear(from, to);
    }
  }

  /** What an item must pass, with a variable of its own for it. */
  record Filter(Targets.Target target, Eval test) {
    boolean passes(Frame frame, Object item) {
      frame.budget().step();
      target.assign(frame, item);
      return Values.isTrue(test.eval(frame));
    }
  }

  Exec.Exit run(Frame frame, Output out, Object value) {
    Budget budget = frame.budget();
    Iterator<Object> all = Iteration.over(budget, value);
    Iterator<Object> items =
        filter == null ? all : Iteration.picked(all, item -> filter.passes(frame, item));
    if (loopSlot < 0) {
      return plain(frame, out, items);
    }
    long length = filter == null ? LoopState.knownLength(budget, value) : -1;
    return counted(frame, out, new LoopState(budget, items, length));
  }

  private Exec.Exit counted(Frame frame, Output out, LoopState state) {
    boolean ended = false;
    while (state.advance()) {
      frame.budget().step();
      slots.clear(frame);
      frame.set(loopSlot, state);
      target.assign(frame, state.current());
      Exec.Exit exit = body.run(frame, out);
      if (exit == Exec.Exit.BREAK) {
        break;
      }
      ended |= exit == Exec.Exit.NORMAL;
    }
    return end(frame, out, ended);
  }

  private Exec.Exit plain(Frame frame, Output out, Iterator<Object> items) {
    boolean ended = false;
    while (items.hasNext()) {
      frame.budget().step();
      Object item = items.next();
      slots.clear(frame);
      target.assign(frame, item);
      Exec.Exit exit = body.run(frame, out);
      if (exit == Exec.Exit.BREAK) {
        break;
      }
      ended |= exit == Exec.Exit.NORMAL;
    }
    return end(frame, out, ended);
  }

  private Exec.Exit end(Frame frame, Output out, boolean ended) {
    slots.clear(frame);
    return ended ? Exec.Exit.NORMAL : otherwise.run(frame, out);
  }
}
