package dev.warmpath.tokenizer.template;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.tokenizer.template.syntax.Arguments;
import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Expression;
import dev.warmpath.tokenizer.template.syntax.Node;
import dev.warmpath.tokenizer.template.syntax.Operator;
import dev.warmpath.tokenizer.template.syntax.Signature;
import dev.warmpath.tokenizer.template.syntax.Statement;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import dev.warmpath.tokenizer.template.syntax.TemplateParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/**
 * The constructs of Jinja2 that templates use: each kind of node with what distinguishes its uses
 * (operators, filters, tests, methods and functions with the number or names of their arguments,
 * forms of slices), and the ways that tags treat the white space around them.
 *
 * <p>Confined to its thread.
 */
final class Constructs {
  private static final Pattern BORDER = Pattern.compile("\\{[{%#][-+]?|[-+]?[}%#]\\}");
  private static final Pattern ESCAPE = Pattern.compile("\\\\[a-zA-Z\\\\'\"]");
  private static final Pattern TIME_FIELD = Pattern.compile("%-?[a-zA-Z%]");

  /** Functions whose arguments are names of the template's own. */
  private static final Set<String> OPEN = Set.of("namespace", "dict");

  /** Filters whose second argument names a test. */
  private static final Set<String> TESTING = Set.of("selectattr", "rejectattr");

  private final Set<String> found = new TreeSet<>();
  private final Set<String> macros = new HashSet<>();

  private Constructs() {}

  /** Prints the constructs of the templates in a folder of goldens, one a line. */
  public static void main(String[] folder) throws IOException {
    Path file = Path.of(folder[0]).resolve("templates.json.gz");
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      JsonNode templates = new ObjectMapper().readTree(in);
      of(templates.findValuesAsText("template")).forEach(System.out::println);
    }
  }

  /** The constructs of all these templates, in order. */
  static Set<String> of(Collection<String> sources) {
    Constructs constructs = new Constructs();
    sources.forEach(constructs::add);
    return constructs.found;
  }

  private void add(String source) {
    Budget budget = new Budget(TemplateLimits.DEFAULT);
    Node tree = TemplateParser.parse(source, budget);
    macros.clear();
    tree.walk(node -> {
      if (node instanceof Statement.Macro macro) {
        macros.add(macro.name());
      }
    });
    tree.children().forEach(child -> child.walk(this::node));
    borders(source);
    all(ESCAPE, source, "escape ");
  }

  private void borders(String source) {
    for (Matcher border = BORDER.matcher(source); border.find(); ) {
      String kind = "border " + border.group();
      String before =
          source.substring(source.lastIndexOf('\n', border.start()) + 1, border.start());
      boolean opens = border.group().startsWith("{");
      found.add(kind);
      mark(opens && !before.isEmpty() && before.isBlank(), kind + " behind indentation");
      mark(!opens && source.startsWith("\n", border.end()), kind + " before a line break");
    }
  }

  private void all(Pattern pattern, String source, String kind) {
    for (Matcher matcher = pattern.matcher(source); matcher.find(); ) {
      found.add(kind + matcher.group());
    }
  }

  private void node(Node node) {
    if (node instanceof Statement statement) {
      statement(statement);
    } else if (node instanceof Expression expression) {
      expression(expression);
    } else if (node instanceof Signature signature && !signature.defaults().isEmpty()) {
      found.add("signature with defaults");
    }
  }

  private void statement(Statement statement) {
    String kind = name(statement);
    if (statement instanceof Statement.For loop) {
      found.add(kind + " over " + name(loop.loop().items()));
      found.add(kind + " of " + name(loop.loop().target()));
      mark(loop.loop().filter() != null, kind + " with a filter");
      mark(loop.loop().isRecursive(), kind + " recursive");
      mark(!loop.otherwise().isEmpty(), kind + " with else");
    } else if (statement instanceof Statement.If choice) {
      mark(choice.branches().size() > 1, "elif");
      mark(!choice.otherwise().isEmpty(), "else");
    } else if (statement instanceof Statement.Assign assign) {
      found.add(kind + " to " + name(assign.target()));
    } else if (statement instanceof Statement.AssignBlock block) {
      found.add(kind + " to " + name(block.target()));
      mark(block.filter() != null, kind + " with a filter");
    } else if (statement instanceof Statement.Jump jump) {
      kind = jump.isBreak() ? "break" : "continue";
    } else if (statement instanceof Statement.Refused refused) {
      kind = refused.failure().bareMessage();
    } else if (statement instanceof Statement.Macro macro) {
      macro.walk(node -> mark(isCallOf(node, macro.name()), "macro that calls itself"));
    }
    found.add(kind);
  }

  private static boolean isCallOf(Node node, String name) {
    return node instanceof Expression.Call call && call.callee().equals(new Expression.Name(name));
  }

  private void expression(Expression expression) {
    if (expression instanceof Expression.Binary binary) {
      found.add("operator " + binary.operator().symbol());
    } else if (expression instanceof Expression.Unary unary) {
      boolean isTest = unary.operand() instanceof Expression.Test;
      found.add("unary " + unary.operator().symbol() + (isTest ? " of a test" : ""));
    } else if (expression instanceof Expression.Comparison comparison) {
      comparison(comparison);
    } else if (expression instanceof Expression.Conditional conditional) {
      mark(conditional.otherwise() == null, "conditional without else");
    } else if (expression instanceof Expression.Filter filter) {
      found.add("filter " + filter.name() + form(filter.arguments()));
      if (TESTING.contains(filter.name()) && filter.arguments().positional().size() > 1) {
        found.add(filter.name() + " by " + constant(filter.arguments().positional().get(1)));
      }
    } else if (expression instanceof Expression.Test test) {
      found.add("test " + test.name() + form(test.arguments()));
    } else {
      access(expression);
    }
    found.add(name(expression));
  }

  private void comparison(Expression.Comparison comparison) {
    for (int i = 0; i < comparison.operators().size(); i++) {
      Operator operator = comparison.operators().get(i);
      boolean membership = operator == Operator.IN || operator == Operator.NOT_IN;
      found.add("operator " + operator.symbol());
      mark(membership, operator.symbol() + " " + name(comparison.operands().get(i)));
    }
    mark(comparison.operators().size() > 1, "comparison of several");
  }

  private static String constant(Expression expression) {
    return expression instanceof Expression.Constant constant
        ? String.valueOf(constant.value())
        : name(expression);
  }

  private void access(Expression expression) {
    if (expression instanceof Expression.Call call) {
      call(call);
    } else if (expression instanceof Expression.Attribute attribute
        && attribute.target() instanceof Expression.Name name
        && name.name().equals("loop")) {
      found.add("loop." + attribute.name());
    } else if (expression instanceof Expression.Item item) {
      found.add("item by " + name(item.index()));
    } else if (expression instanceof Expression.Slice slice) {
      found.add(
          "slice "
              + (slice.start() == null ? "" : "a")
              + ":"
              + (slice.stop() == null ? "" : "b")
              + (slice.step() == null ? "" : ":c"));
    } else if (expression instanceof Expression.Constant constant) {
      Object value = constant.value();
      found.add("constant " + (value == null ? "None" : value.getClass().getSimpleName()));
    }
  }

  private void call(Expression.Call call) {
    String form = form(call.arguments());
    if (call.callee() instanceof Expression.Attribute attribute) {
      found.add("method " + attribute.name() + form);
    } else if (call.callee() instanceof Expression.Name name) {
      boolean isMacro = macros.contains(name.name());
      boolean isOpen = OPEN.contains(name.name());
      found.add(isMacro ? "call of a macro" : "function " + name.name() + (isOpen ? "" : form));
      mark(isMacro && !call.arguments().positional().isEmpty(), "macro given by position");
      mark(isMacro && !call.arguments().keywords().isEmpty(), "macro given by name");
      if (name.name().equals("strftime_now")) {
        all(TIME_FIELD, constant(call.arguments().positional().get(0)), "time ");
      }
    } else {
      found.add("call of another value");
    }
  }

  /** How many arguments there are by position, and the names of the others. */
  private static String form(Arguments arguments) {
    Set<String> names = new TreeSet<>();
    arguments.keywords().forEach(keyword -> names.add(keyword.name()));
    if (arguments.star() != null) {
      names.add(arguments.star());
    }
    int count = arguments.positional().size();
    return count == 0 && names.isEmpty()
        ? ""
        : "(" + count + (names.isEmpty() ? "" : " " + String.join(" ", names)) + ")";
  }

  private void mark(boolean holds, String construct) {
    if (holds) {
      found.add(construct);
    }
  }

  private static String name(Node node) {
    return node.getClass().getSimpleName().toLowerCase(Locale.ROOT);
  }
}
