package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Expression;
import dev.warmpath.tokenizer.template.syntax.Node;
import dev.warmpath.tokenizer.template.syntax.Signature;
import dev.warmpath.tokenizer.template.syntax.Statement;
import dev.warmpath.tokenizer.template.value.Undefined;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The names that a part of the template assigns, and where they live. A scope sees what its outer
 * scopes have set; what it sets itself ends with it.
 *
 * <p>Confined to the thread that compiles.
 */
final class Scope {
  private final Budget budget;
  private final Function function;
  private final @Nullable Scope outer;
  private final Map<String, Integer> slots = new LinkedHashMap<>();
  private final Set<String> setFirst = new HashSet<>();
  private final Set<String> seen = new HashSet<>();
  private final int firstSlot;

  /** How many slots a function needs so far. */
  private static final class Function {
    private int size;
  }

  private Scope(Budget budget, Function function, @Nullable Scope outer) {
    this.budget = budget;
    this.function = function;
    this.outer = outer;
    this.firstSlot = function.size;
  }

  /** The scope of a template, whose compilation may cost this. */
  static Scope root(Budget budget) {
    return new Scope(budget, new Function(), null);
  }

  /** A scope within the same function. */
  Scope inner() {
    return new Scope(budget, function, this);
  }

  /** The outermost scope of a function that is defined here. */
  Scope function() {
    return new Scope(budget, new Function(), this);
  }

  /** Whether anything in this part of the tree is so. */
  boolean any(Node tree, Predicate<Node> test) {
    boolean[] found = new boolean[1];
    tree.walk(node -> {
      budget.built(1);
      found[0] |= test.test(node);
    });
    return found[0];
  }

  int declare(String name) {
    return slots.computeIfAbsent(name, ignored -> function.size++);
  }

  /** Declares all that these statements assign in this scope. */
  Scope declareAll(List<Statement> body) {
    return declareAll(Signature.NONE, body);
  }

  /** The same for the body of a function. */
  Scope declareAll(Signature signature, List<Statement> body) {
    FirstUses uses = FirstUses.of(signature, body);
    setFirst.addAll(uses.setFirst());
    seen.addAll(uses.seen());
    return declareEach(body);
  }

  private Scope declareEach(List<Statement> body) {
    for (Statement statement : body) {
      if (statement instanceof Statement.Assign assign) {
        declareTarget(assign.target());
      } else if (statement instanceof Statement.AssignBlock block) {
        declareTarget(block.target());
      } else if (statement instanceof Statement.Macro macro) {
        declare(macro.name());
      } else if (statement instanceof Statement.If choice) {
        choice.branches().forEach(branch -> declareEach(branch.body()));
        declareEach(choice.otherwise());
      }
    }
    return this;
  }

  Scope declareTarget(Expression target) {
    if (target instanceof Expression.Name name) {
      declare(name.name());
    } else if (target instanceof Expression.Sequence sequence) {
      sequence.items().forEach(this::declareTarget);
    }
    return this;
  }

  /** The slots of the whole function; to be read when it is compiled. */
  int functionSize() {
    return function.size;
  }

  int firstSlot() {
    return firstSlot;
  }

  /** The end of this scope's own slots; to be read when all its names are declared. */
  int endSlot() {
    return firstSlot + slots.size();
  }

  /** How to read a variable: the innermost scope that has set it, else the context. */
  Eval reader(String name) {
    List<int[]> places = places(name);
    Undefined undefined = Undefined.variable(name);
    Eval fallback =
        frame -> {
          Object value = frame.fromContext(name);
          return value == null ? undefined : value;
        };
    Eval reader = isSetFirst(name) ? frame -> undefined : fallback;
    for (int i = places.size() - 1; i >= 0; i--) {
      reader = read(places.get(i)[0], places.get(i)[1], reader);
    }
    return reader;
  }

  /** Whether the outermost scope that has to do with the name sets it before it reads it. */
  private boolean isSetFirst(String name) {
    boolean setFirst = false;
    for (Scope scope = this; scope != null; scope = scope.outer) {
      if (scope.slots.containsKey(name) || scope.seen.contains(name)) {
        setFirst = scope.setFirst.contains(name);
      }
    }
    return setFirst;
  }

  private static Eval read(int hops, int slot, Eval otherwise) {
    if (hops == 0) {
      return frame -> {
        Object value = frame.get(slot);
        return value == null ? otherwise.eval(frame) : value;
      };
    }
    return frame -> {
      Object value = frame.outer(hops).get(slot);
      return value == null ? otherwise.eval(frame) : value;
    };
  }

  private List<int[]> places(String name) {
    List<int[]> places = new ArrayList<>();
    int hops = 0;
    for (Scope scope = this; scope != null; scope = scope.outer) {
      Integer slot = scope.slots.get(name);
      if (slot != null) {
        places.add(new int[] {hops, slot});
      }
      Scope next = scope.outer;
      hops += next != null && next.function != scope.function ? 1 : 0;
    }
    return places;
  }

  /**
   * Finds the names that a body sets, whatever happens, before it reads them itself. Jinja2 takes
   * such a name for the body's own from the start: scopes within that read it too early find
   * nothing, not a variable of the request. What scopes within do is not looked at.
   *
   * <p>Confined to the thread that compiles.
   */
  private static final class FirstUses {
    private final Set<String> setFirst = new HashSet<>();
    private final Set<String> seen = new HashSet<>();

    private FirstUses() {}

    /** The uses in the body of one scope, whose parameters' defaults are read before. */
    static FirstUses of(Signature signature, List<Statement> body) {
      FirstUses uses = new FirstUses();
      signature.defaults().forEach(uses::read);
      uses.walk(body, true);
      return uses;
    }

    /** The names that are set before they are read. */
    Set<String> setFirst() {
      return setFirst;
    }

    /** All names that are set or read. */
    Set<String> seen() {
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
}
