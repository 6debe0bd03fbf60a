package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Statement;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.value.Callable;
import java.util.Map;

/**
 * A compiled template.
 *
 * <p>Thread-safe.
 */
final class Program {
  private static final int INITIAL_CHARS = 2048;
  private static final int MOST_INITIAL_CHARS = 1 << 20;

  private final Exec body;
  private final int frameSize;

  /**
   * How much the last output had to copy; chats of one model are often much like the one before.
   */
  private volatile int lastTailChars;

  private Program(Exec body, int frameSize) {
    this.body = body;
    this.frameSize = frameSize;
  }

  /**
   * A template that runs.
   *
   * @param budget what compiling may cost
   * @throws TemplateException of kind SYNTAX for filters and tests that do not exist
   */
  public static Program compile(Statement.Scoped template, Budget budget) {
    Scope root = Scope.root(budget).declareAll(template.body());
    Exec body = StatementCompiler.body(template.body(), root);
    return new Program(body, root.functionSize());
  }

  /** The template's output. */
  public String run(Map<String, ?> variables, Map<String, Callable> globals, Budget budget) {
    Frame frame = new Frame(new Frame.Context(variables, globals, budget), frameSize);
    int expected = Math.min(MOST_INITIAL_CHARS, lastTailChars + lastTailChars / 8);
    Output out = new Output(Math.max(INITIAL_CHARS, expected));
    body.run(frame, out);
    lastTailChars = out.longestTailChars();
    return out.toString();
  }
}
