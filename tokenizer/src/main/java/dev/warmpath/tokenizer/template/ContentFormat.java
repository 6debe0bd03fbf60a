package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.tree.Arguments;
import dev.warmpath.tokenizer.template.tree.Expression;
import dev.warmpath.tokenizer.template.tree.Node;
import dev.warmpath.tokenizer.template.tree.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds out whether a template takes message content apart, by the rules of vLLM 0.32: there is a
 * loop over the content of a loop variable over messages, over a macro's parameter that is passed
 * such content, or, outside of macros, over a variable named {@code content}. Assignments are
 * followed by name, whatever their scope.
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
        .map(loop -> loop.loop().items())
        .anyMatch(items -> USUAL_NAMES.stream().anyMatch(name -> isContentOf(items, name)));
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
      if (lists.stream().anyMatch(name -> isAccess(loop.loop().items(), name))) {
        messageNames.add(targetName(loop.loop().target()));
      }
    }
    return loopsOverContent(loops) || macrosLoop() || loopsOverVariable();
  }

  private static String targetName(Expression target) {
    if (target instanceof Expression.Name name) {
      return name.name();
    }
    throw new NotSimple();
  }

  /** The names that {@code messages}, or some of them, are assigned to. */
  private Set<String> aliases() {
    List<Statement.Assign> assigns = all(tree, Statement.Assign.class);
    Set<String> names = new LinkedHashSet<>(List.of("messages"));
    List<String> open = new ArrayList<>(names);
    while (!open.isEmpty()) {
      String name = open.remove(0);
      for (Statement.Assign assign : assigns) {
        if (isAccess(assign.value(), name) && names.add(targetName(assign.target()))) {
          open.add(targetName(assign.target()));
        }
      }
    }
    return names;
  }

  private boolean loopsOverContent(Collection<Statement.For> within) {
    return within.stream().anyMatch(loop -> isContent(loop.loop().items()));
  }

  private boolean isContent(Expression expression) {
    return messageNames.stream().anyMatch(name -> isContentOf(expression, name));
  }

  private boolean macrosLoop() {
    List<Expression.Call> calls = all(tree, Expression.Call.class);
    for (Statement.Macro macro : all(tree, Statement.Macro.class)) {
      Set<String> parameters = contentParameters(macro, calls);
      for (Statement.For loop : all(macro, Statement.For.class)) {
        if (loop.loop().items() instanceof Expression.Name name
            && parameters.contains(name.name())) {
          return true;
        }
      }
    }
    return false;
  }

  private Set<String> contentParameters(Statement.Macro macro, List<Expression.Call> calls) {
    List<String> parameters = macro.signature().parameters();
    Set<String> found = new HashSet<>();
    for (Expression.Call call : calls) {
      if (call.callee() instanceof Expression.Name name && name.name().equals(macro.name())) {
        List<Expression> given = call.arguments().positional();
        for (int i = 0; i < given.size() && i < parameters.size(); i++) {
          if (isContent(given.get(i))) {
            found.add(parameters.get(i));
          }
        }
        for (Arguments.Keyword keyword : call.arguments().keywords()) {
          if (parameters.contains(keyword.name()) && isContent(keyword.value())) {
            found.add(keyword.name());
          }
        }
      }
    }
    return found;
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

  /** The variable itself, through filters, tests and slices. */
  private static boolean isAccess(Expression expression, String name) {
    return isName(bare(expression), name);
  }

  private static boolean isContentOf(Expression expression, String name) {
    Expression bare = bare(expression);
    if (bare instanceof Expression.Attribute attribute) {
      return attribute.name().equals("content") && isName(attribute.target(), name);
    }
    return bare instanceof Expression.Item item
        && item.index() instanceof Expression.Constant constant
        && "content".equals(constant.value())
        && isName(item.target(), name);
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
