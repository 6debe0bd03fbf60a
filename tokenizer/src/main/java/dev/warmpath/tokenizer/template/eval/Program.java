package dev.warmpath.tokenizer.template.eval;

import dev.warmpath.tokenizer.template.limit.Budget;
import dev.warmpath.tokenizer.template.limit.TemplateException;
import dev.warmpath.tokenizer.template.tree.Statement;
import dev.warmpath.tokenizer.template.value.Callable;
import java.util.Map;

/**
 * A compiled template.
 *
 * <p>Thread-safe.
 */
public final class Program {
  private static final int INITIAL_CHARS = 2048;
  private static final int MOST_INITIAL_CHARS = 1 << 20;

  private final Exec body;
  private final int frameSize;

  /** Length of the last output; chats of one model are often about as long as the one before. */
  private volatile int lastChars;

  private Program(Exec body, int frameSize) {
    this.body = body;
    this.frameSize = frameSize;
  }

  /**
   * A template that runs.
   *
   * @throws TemplateException of kind SYNTAX for filters and tests that do not exist
   */
  public static Program compile(Statement.Scoped template) {
    Scope root = Scope.root().declareAll(template.body());
    Exec body = StatementCompiler.body(template.body(), root);
    return new Program(body, root.functionSize());
  }

  /** The template's output. */
  public String run(Map<String, ?> variables, Map<String, Callable> globals, Budget budget) {
    Frame frame = new Frame(new Frame.Context(variables, globals, budget), frameSize);
    int expected = Math.min(MOST_INITIAL_CHARS, lastChars + lastChars / 8);
    StringBuilder out = new StringBuilder(Math.max(INITIAL_CHARS, expected));
    try {
      body.run(frame, out);
    } catch (StackOverflowError e) {
      // The depth bound is meant to come first; a thread with a small stack still gets an answer.
      throw TemplateException.limit("out of stack");
    }
    lastChars = out.length();
    return out.toString();
  }
}
