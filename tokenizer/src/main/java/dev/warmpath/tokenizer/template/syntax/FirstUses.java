package dev.warmpath.tokenizer.template.syntax;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the names that a body sets, whatever happens, before it reads them itself. Jinja2 takes
 * such a name for the body's own from the start: scopes within that read it too early find nothing,
 * not a variable of the request. What scopes within do is not looked at.
 *
 * <p>Confined to the thread that compiles.
 */
public final class FirstUses {
  private final Set<String> setFirst = new HashSet<>();
  private final Set<String> seen = new HashSet<>();

  private FirstUses() {}

  /** The uses in the body of one scope, whose parameters' defaults are read before. */
  public static FirstUses of(Signature signature, List<Statement> body) {
    FirstUses uses = new FirstUses();
    signature.defaults().forEach(uses::read);
    uses.walk(body, true);
    return uses;
  }

  /** The names that are set before they are read. */
  public Set<String> setFirst() {
    return setFirst;
  }

  /** All names that are set or read. */
  public Set<String> seen() {
    return seen;
  }

  private void walk(List<Statement> body, boolean always) {
    for (Statement statement : body) {
      statement(statement, always);
    }
  }

  private void statement(Statement statement, boolean always) {
    if (statement instanceof Statement.Assign assign) {
      read(assign.value());
      set(assign.target(), always);
    } else if (statement instanceof Statement.AssignBlock block) {
      set(block.target(), always);
    } else if (statement instanceof Statement.Macro macro) {
      set(macro.name(), always);
    } else if (statement instanceof Statement.If choice) {
      choice.branches().forEach(branch -> branch(branch.test(), branch.body()));
      walk(choice.otherwise(), false);
    } else {
      readHead(statement);
    }
  }

  private void branch(Expression test, List<Statement> body) {
    read(test);
    walk(body, false);
  }

  private void readHead(Statement statement) {
    if (statement instanceof Statement.Output output) {
      read(output.value());
    } else if (statement instanceof Statement.For loop) {
      read(loop.loop().items());
    } else if (statement instanceof Statement.CallBlock block) {
      read(block.call());
    }
  }

  private void read(Expression expression) {
    expression.walk(node -> {
      if (node instanceof Expression.Name name) {
        seen.add(name.name());
      }
    });
  }

  private void set(Expression target, boolean always) {
    if (target instanceof Expression.Name name) {
      set(name.name(), always);
    } else if (target instanceof Expression.NamespaceTarget namespace) {
      seen.add(namespace.namespace());
    } else {
      ((Expression.Sequence) target).items().forEach(item -> set(item, always));
    }
  }

  private void set(String name, boolean always) {
    if (seen.add(name) && always) {
      setFirst.add(name);
    }
  }
}
