package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.builtin.Globals;
import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Expression;
import dev.warmpath.tokenizer.template.syntax.Node;
import dev.warmpath.tokenizer.template.syntax.Statement;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import dev.warmpath.tokenizer.template.syntax.TemplateParser;
import dev.warmpath.tokenizer.template.value.Callable;
import java.time.Clock;
import java.time.ZoneId;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;

/**
 * A model's chat template: Jinja2 source that renders as the engines render it, in a sandboxed
 * environment with {@code trim_blocks}, {@code lstrip_blocks}, loop controls, the {@code
 * generation} tag, {@code raise_exception}, {@code strftime_now} and the {@code tojson} of chat
 * templates.
 *
 * <p>Values are String, Long, Integer, BigInteger, Double, Boolean, null (None), List and Map; they
 * are read, not changed. A render fails with a {@link TemplateException} that says whether Jinja2
 * would fail too, and never runs longer, deeper or wider than its {@link TemplateLimits}. Who waits
 * for a parse or a render gives it up by interrupting its thread.
 */
public final class ChatTemplate {

  /** Models' own templates have up to 20,000 characters. */
  private static final int MAX_CHARS = 1 << 18;

  private final String source;
  private final Program program;
  private final TemplateLimits limits;
  private final Map<String, Callable> globals;
  private final Set<String> variables;
  private final boolean iteratesContent;
  private final boolean iteratesContentByUsualName;

  private ChatTemplate(String source, Clock clock, TemplateLimits limits) {
    Budget budget = new Budget(limits);
    Statement.Scoped tree = TemplateParser.parse(source, budget);
    this.source = source;
    this.limits = limits;
    this.program = Program.compile(tree, budget);
    this.globals = Globals.all(clock);
    this.variables = Variables.of(tree);
    this.iteratesContent = ContentFormat.iteratesContent(tree);
    this.iteratesContentByUsualName = ContentFormat.iteratesContentByUsualName(tree);
  }

  /** A template that tells the time of this machine's clock and zone. */
  public static ChatTemplate parse(String source) {
    return parse(source, Clock.system(ZoneId.systemDefault()), TemplateLimits.DEFAULT);
  }

  /**
   * A template with its own clock, whose zone counts, and limits.
   *
   * @throws TemplateException of kind SYNTAX when Jinja2 would not compile it either; LIMIT when it
   *     is too long
   * @throws CancellationException if the thread is interrupted before it is read
   */
  public static ChatTemplate parse(String source, Clock clock, TemplateLimits limits) {
    if (source.length() > MAX_CHARS) {
      throw TemplateException.limit(
          "a template of " + source.length() + " characters, more than " + MAX_CHARS);
    }
    return carried(() -> new ChatTemplate(source, clock, limits));
  }

  /**
   * The limits are meant to come first; a thread with a small stack or a heap that is nearly full
   * still gets an answer.
   */
  private static <T> T carried(Supplier<T> work) {
    try {
      return work.get();
    } catch (StackOverflowError e) {
      throw TemplateException.limit("out of stack");
    } catch (OutOfMemoryError e) {
      throw TemplateException.limit("out of memory");
    }
  }

  /** The output for these variables. */
  public String render(Map<String, ?> values) {
    return carried(() -> program.run(values, globals, new Budget(limits)));
  }

  /**
   * The output in an environment that has neither {@code generation} nor {@code raise_exception}
   * nor {@code strftime_now}, as vLLM tries templates.
   */
  public String renderStock(Map<String, ?> values) {
    return carried(() -> {
      Budget budget = new Budget(limits);
      Program stock = Program.compile(TemplateParser.parseStock(source, budget), budget);
      return stock.run(values, Globals.stock(), new Budget(limits));
    });
  }

  /** Whether the template loops over a message's content: vLLM's content format "openai". */
  public boolean iteratesContent() {
    return iteratesContent;
  }

  /** Whether it loops over the content of a variable with a usual name: SGLang's rule. */
  public boolean iteratesContentByUsualName() {
    return iteratesContentByUsualName;
  }

  /** Whether the source holds this text. */
  public boolean mentions(String text) {
    return source.contains(text);
  }

  /** The names that the template may read from its variables. */
  public Set<String> variables() {
    return variables;
  }

  public String source() {
    return source;
  }

  /**
   * The names that a template reads, less Jinja2's own functions. Names that it always sets before
   * it reads them are among them: what is passed for those changes nothing.
   */
  private static final class Variables {

    private Variables() {}

    static Set<String> of(Node tree) {
      Set<String> names = new TreeSet<>();
      tree.walk(node -> {
        if (node instanceof Expression.Name name) {
          names.add(name.name());
        } else if (node instanceof Expression.NamespaceTarget target) {
          names.add(target.namespace());
        }
      });
      names.removeAll(Globals.OWN_NAMES);
      return Set.copyOf(names);
    }
  }

  /**
   * A compiled template.
   *
   * <p>Thread-safe.
   */
  static final class Program {
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
}
