package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.syntax.Arguments;
import dev.warmpath.tokenizer.template.syntax.Expression;
import dev.warmpath.tokenizer.template.syntax.Node;
import dev.warmpath.tokenizer.template.syntax.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether a template takes message content apart, by the rules of vLLM 0.33: there is a
 * loop over the content of a loop variable over messages, over a macro's parameter that is passed
 * such content, or, outside of macros, over a variable named {@code content}. Assignments, to
 * fields of namespaces too, are followed by name, whatever their scope.
 *
 * <p>Confined to its thread.
 */
final class ContentFormat {
  private static final List<String> USUAL_NAMES = List.of("message", "msg", "m");

  private final Node tree;
  private final List<Statement.For> loops;
  private final Set<String> messageNames = new HashSet<>();

  private ContentFormat(Node tree) {
    this.tree = tree;
    this.loops = all(tree, Statement.For.class);
  }

  static boolean iteratesContent(Node tree) {
    try {
      return new ContentFormat(tree).run();
    } catch (NotSimple e) {
      return false;
    }
  }

  /** SGLang 0.5.23's rule: a loop over the content of {@code message}, {@code msg} or {@code m}. */
  static boolean iteratesContentByUsualName(Node tree) {
    return all(tree, Statement.For.class).stream()
        .map(loop -> contentOwner(loop.loop().items()))
        .anyMatch(owner -> owner != null && USUAL_NAMES.contains(owner));
  }

  /** Where vLLM's search gives up and takes the content as text. */
  private static final class NotSimple extends RuntimeException {
    NotSimple() {
      super(null, null, false, false);
    }
  }

  private static <N> List<N> all(Node root, Class<N> type) {
    List<N> found = new ArrayList<>();
    root.walk(node -> {
      if (type.isInstance(node)) {
        found.add(type.cast(node));
      }
    });
    return found;
  }

  private boolean run() {
    Set<String> lists = aliases();
    for (Statement.For loop : loops) {
      String accessed = accessed(loop.loop().items());
      if (accessed != null && lists.contains(accessed)) {
        messageNames.add(loopName(loop.loop().target()));
      }
    }
    return loops.stream().anyMatch(loop -> isContent(loop.loop().items()))
        || macrosLoop()
        || loopsOverVariable();
  }

  private static String loopName(Expression target) {
    if (target instanceof Expression.Name name) {
      return name.name();
    }
    throw new NotSimple();
  }

  private static String targetName(Expression target) {
    return target instanceof Expression.NamespaceTarget field
        ? field(field.namespace(), field.attribute())
        : loopName(target);
  }

  /** What a namespace's field is called here: no variable can be. */
  private static String field(String namespace, String attribute) {
    return namespace + "." + attribute;
  }

  /** The names that {@code messages}, or some of them, are assigned to. */
  private Set<String> aliases() {
    Map<String, List<Expression>> targets = new HashMap<>();
    for (Statement.Assign assign : all(tree, Statement.Assign.class)) {
      String accessed = accessed(assign.value());
      if (accessed != null) {
        targets.computeIfAbsent(accessed, name -> new ArrayList<>()).add(assign.target());
      } else if (assign.target() instanceof Expression.Name namespace) {
        addFields(namespace.name(), assign.value(), targets);
      }
    }
    Set<String> names = new HashSet<>(List.of("messages"));
    Deque<String> open = new ArrayDeque<>(names);
    while (!open.isEmpty()) {
      for (Expression target : targets.getOrDefault(open.remove(), List.of())) {
        if (names.add(targetName(target))) {
          open.add(targetName(target));
        }
      }
    }
    return names;
  }

  /** Adds the fields that a call of {@code namespace} gives. */
  private static void addFields(
      String namespace, Expression value, Map<String, List<Expression>> targets) {
    if (value instanceof Expression.Call call && isName(call.callee(), "namespace")) {
      for (Arguments.Keyword keyword : call.arguments().keywords()) {
        String accessed = accessed(keyword.value());
        if (accessed != null) {
          targets
              .computeIfAbsent(accessed, name -> new ArrayList<>())
              .add(new Expression.NamespaceTarget(namespace, keyword.name()));
        }
      }
    }
  }

  private boolean isContent(Expression expression) {
    String owner = contentOwner(expression);
    return owner != null && messageNames.contains(owner);
  }

  private boolean macrosLoop() {
    Map<String, Passed> passed = passedContent();
    for (Statement.Macro macro : all(tree, Statement.Macro.class)) {
      Set<String> parameters =
          passed.getOrDefault(macro.name(), Passed.NOTHING).among(macro.signature().parameters());
      for (Statement.For loop : all(macro, Statement.For.class)) {
        if (loop.loop().items() instanceof Expression.Name name
            && parameters.contains(name.name())) {
          return true;
        }
      }
    }
    return false;
  }

  /** Where calls of one name are passed content. */
  private record Passed(Set<Integer> positions, Set<String> keywords) {
    static final Passed NOTHING = new Passed(Set.of(), Set.of());

    Set<String> among(List<String> parameters) {
      Set<String> found = new HashSet<>();
      for (int i = 0; i < parameters.size(); i++) {
        if (positions.contains(i) || keywords.contains(parameters.get(i))) {
          found.add(parameters.get(i));
        }
      }
      return found;
    }
  }

  private Map<String, Passed> passedContent() {
    Map<String, Passed> passed = new HashMap<>();
    for (Expression.Call call : all(tree, Expression.Call.class)) {
      if (call.callee() instanceof Expression.Name name) {
        Passed ofName =
            passed.computeIfAbsent(name.name(), n -> new Passed(new HashSet<>(), new HashSet<>()));
        addContent(call.arguments(), ofName);
      }
    }
    return passed;
  }

  private void addContent(Arguments arguments, Passed to) {
    List<Expression> positional = arguments.positional();
    for (int i = 0; i < positional.size(); i++) {
      if (isContent(positional.get(i))) {
        to.positions().add(i);
      }
    }
    for (Arguments.Keyword keyword : arguments.keywords()) {
      if (isContent(keyword.value())) {
        to.keywords().add(keyword.name());
      }
    }
  }

  private boolean loopsOverVariable() {
    Set<Statement.For> inMacros = Collections.newSetFromMap(new IdentityHashMap<>());
    all(tree, Statement.Macro.class).forEach(m -> inMacros.addAll(all(m, Statement.For.class)));
    return loops.stream()
        .filter(loop -> !inMacros.contains(loop))
        .anyMatch(loop -> isName(loop.loop().items(), "content"));
  }

  private static boolean isName(Expression expression, String name) {
    return expression instanceof Expression.Name n && n.name().equals(name);
  }

  /** The variable, or the field of one, that this is, through filters, tests and slices. */
  private static @Nullable String accessed(Expression expression) {
    Expression bare = bare(expression);
    if (bare instanceof Expression.Attribute attribute
        && attribute.target() instanceof Expression.Name namespace) {
      return field(namespace.name(), attribute.name());
    }
    return bare instanceof Expression.Name name ? name.name() : null;
  }

  /** The variable that this is the content of. */
  private static @Nullable String contentOwner(Expression expression) {
    Expression bare = bare(expression);
    Expression owner = null;
    if (bare instanceof Expression.Attribute attribute && attribute.name().equals("content")) {
      owner = attribute.target();
    } else if (bare instanceof Expression.Item item
        && item.index() instanceof Expression.Constant constant
        && "content".equals(constant.value())) {
      owner = item.target();
    }
    return owner instanceof Expression.Name name ? name.name() : null;
  }

  private static Expression bare(Expression expression) {
    Expression bare = expression;
    while (true) {
      Expression inner = null;
      if (bare instanceof Expression.Filter filter) {
        inner = filter.operand();
      } else if (bare instanceof Expression.Test test) {
        inner = test.operand();
      } else if (bare instanceof Expression.Item item && item.index() instanceof Expression.Slice) {
        inner = item.target();
      }
      if (inner == null) {
        return bare;
      }
      bare = inner;
    }
  }
}
