package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.ExpressionCompiler.ArgumentsEval;
import dev.warmpath.tokenizer.template.builtin.LoopState;
import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.syntax.Expression;
import dev.warmpath.tokenizer.template.syntax.Node;
import dev.warmpath.tokenizer.template.syntax.Signature;
import dev.warmpath.tokenizer.template.syntax.Statement;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Iteration;
import dev.warmpath.tokenizer.template.value.Namespace;
import dev.warmpath.tokenizer.template.value.Text;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns statements into something that runs. Whatever fails in one gets its line.
 *
 * <p>Confined to the thread that compiles.
 */
final class StatementCompiler {
  private final Scope scope;
  private final boolean lenient;

  StatementCompiler(Scope scope, boolean lenient) {
    this.scope = scope;
    this.lenient = lenient;
  }

  /** The statements of a scope, whose names are declared. */
  static Exec body(List<Statement> statements, Scope scope) {
    return new StatementCompiler(scope, false).all(statements);
  }

  private Exec all(List<Statement> statements) {
    Exec[] execs = statements.stream().map(this::placed).toArray(Exec[]::new);
    if (execs.length == 1) {
      return execs[0];
    }
    return (frame, out) -> {
      for (Exec exec : execs) {
        Exec.Exit exit = exec.run(frame, out);
        if (exit != Exec.Exit.NORMAL) {
          return exit;
        }
      }
      return Exec.Exit.NORMAL;
    };
  }

  private Exec placed(Statement statement) {
    int line = statement.line();
    Exec exec;
    try {
      exec = compile(statement);
    } catch (TemplateException e) {
      throw e.at(line);
    }
    if (statement instanceof Statement.Data) {
      return exec;
    }
    return (frame, out) -> {
      try {
        return exec.run(frame, out);
      } catch (TemplateException e) {
        throw e.at(line);
      }
    };
  }

  private Exec compile(Statement statement) {
    if (statement instanceof Statement.Data it) {
      return data(it);
    } else if (statement instanceof Statement.Output it) {
      return output(it);
    } else if (statement instanceof Statement.If it) {
      return ifElse(it);
    } else if (statement instanceof Statement.For it) {
      return forLoop(it);
    } else if (statement instanceof Statement.Assign it) {
      return assign(it.target(), eval(it.value()));
    } else if (statement instanceof Statement.AssignBlock it) {
      return assign(it.target(), captured(it));
    } else if (statement instanceof Statement.Macro it) {
      return macro(it);
    } else if (statement instanceof Statement.CallBlock it) {
      return callBlock(it);
    } else if (statement instanceof Statement.Scoped it) {
      Scope inner = scope.inner().declareAll(it.body());
      return fresh(inner, body(it.body(), inner));
    } else if (statement instanceof Statement.Jump it) {
      Exec.Exit exit = it.isBreak() ? Exec.Exit.BREAK : Exec.Exit.CONTINUE;
      return (frame, out) -> exit;
    }
    return refusing(((Statement.Refused) statement).failure());
  }

  private ExpressionCompiler expressions() {
    return new ExpressionCompiler(scope, lenient);
  }

  private Eval eval(Expression expression) {
    return expressions().compile(expression);
  }

  /** A body whose variables begin anew. */
  private static Exec fresh(Scope inner, Exec body) {
    ForLoop.Slots slots = new ForLoop.Slots(inner.firstSlot(), inner.endSlot());
    return (frame, out) -> {
      slots.clear(frame);
      Exec.Exit exit = body.run(frame, out);
      slots.clear(frame);
      return exit;
    };
  }

  private Exec data(Statement.Data data) {
    String text = data.text();
    return (frame, out) -> {
      out.append(text);
      frame.budget().built(text.length());
      frame.budget().output(out.length());
      return Exec.Exit.NORMAL;
    };
  }

  private Exec output(Statement.Output output) {
    Eval value = eval(output.value());
    return (frame, out) -> {
      int before = out.length();
      value.write(frame, out);
      frame.budget().built(out.length() - before);
      frame.budget().output(out.length());
      return Exec.Exit.NORMAL;
    };
  }

  private Exec ifElse(Statement.If choice) {
    StatementCompiler inner = new StatementCompiler(scope, true);
    int count = choice.branches().size();
    Eval[] tests = new Eval[count];
    Exec[] bodies = new Exec[count];
    for (int i = 0; i < count; i++) {
      Statement.Branch branch = choice.branches().get(i);
      tests[i] = placedTest(inner.eval(branch.test()), branch.line());
      bodies[i] = inner.all(branch.body());
    }
    Exec otherwise = inner.all(choice.otherwise());
    return (frame, out) -> {
      for (int i = 0; i < count; i++) {
        if (Values.isTrue(tests[i].eval(frame))) {
          return bodies[i].run(frame, out);
        }
      }
      return otherwise.run(frame, out);
    };
  }

  private static Eval placedTest(Eval test, int line) {
    return frame -> {
      try {
        return test.eval(frame);
      } catch (TemplateException e) {
        throw e.at(line);
      }
    };
  }

  private Exec forLoop(Statement.For loop) {
    Statement.Loop head = loop.loop();
    Eval items = eval(head.items());
    if (head.isRecursive()) {
      return refusing(Unsupported.LOOP.of("recursive"));
    }
    ForLoop compiled = loop(loop, scope);
    return (frame, out) -> compiled.run(frame, out, items.eval(frame));
  }

  private static Exec refusing(TemplateException refusal) {
    return (frame, out) -> {
      throw refusal;
    };
  }

  private static ForLoop loop(Statement.For loop, Scope around) {
    Statement.Loop head = loop.loop();
    ForLoop.Filter filter = filter(head, around);
    Scope inner = around.inner().declareTarget(head.target());
    boolean counts = mentions(around, loop.body(), "loop");
    int loopSlot = counts ? inner.declare("loop") : -1;
    inner.declareAll(loop.body());
    ForLoop.Slots slots = new ForLoop.Slots(inner.firstSlot(), inner.endSlot());
    Targets.Target target = Targets.of(head.target(), inner);
    Exec body = body(loop.body(), inner);
    Scope elseScope = around.inner().declareAll(loop.otherwise());
    Exec otherwise = fresh(elseScope, body(loop.otherwise(), elseScope));
    return new ForLoop(target, filter, body, otherwise, slots, loopSlot);
  }

  private static ForLoop.@Nullable Filter filter(Statement.Loop head, Scope around) {
    Expression filter = head.filter();
    if (filter == null) {
      return null;
    }
    Scope inner = around.inner().declareTarget(head.target());
    return new ForLoop.Filter(
        Targets.of(head.target(), inner), new ExpressionCompiler(inner, false).compile(filter));
  }

  private static boolean mentions(Scope scope, List<? extends Node> nodes, String name) {
    Expression.Name wanted = new Expression.Name(name);
    return nodes.stream().anyMatch(node -> scope.any(node, wanted::equals));
  }

  private Exec macro(Statement.Macro macro) {
    int slot = scope.declare(macro.name());
    MacroFunction.Definition definition =
        definition(macro.name(), macro.signature(), macro.body(), macro.height());
    return (frame, out) -> {
      frame.set(slot, new MacroFunction(definition, frame));
      return Exec.Exit.NORMAL;
    };
  }

  private MacroFunction.Definition definition(
      String name, Signature signature, List<Statement> body, int height) {
    Scope function = scope.function();
    List<String> parameters = signature.parameters();
    parameters.forEach(function::declare);
    int callerSlot = special(body, parameters, "caller") ? function.declare("caller") : -1;
    function.declareAll(signature, body);
    ExpressionCompiler inside = new ExpressionCompiler(function, false);
    List<MacroFunction.Parameter> compiled = new ArrayList<>();
    for (int i = 0; i < parameters.size(); i++) {
      String parameter = parameters.get(i);
      Eval otherwise = inside.orNull(signature.defaultOf(i));
      compiled.add(new MacroFunction.Parameter(parameter, function.declare(parameter), otherwise));
    }
    Exec run = body(body, function);
    return new MacroFunction.Definition(
        name,
        compiled,
        callerSlot,
        run,
        function.functionSize(),
        height + 3,
        refusal(body, parameters));
  }

  private @Nullable TemplateException refusal(List<Statement> body, List<String> parameters) {
    for (String variable : Unsupported.MACRO_VARIABLE.names()) {
      if (special(body, parameters, variable)) {
        return Unsupported.MACRO_VARIABLE.of(variable);
      }
    }
    return null;
  }

  /** Whether a macro's body reads a variable that only macros have. */
  private boolean special(List<Statement> body, List<String> parameters, String name) {
    return !parameters.contains(name) && mentions(scope, body, name);
  }

  private Exec callBlock(Statement.CallBlock block) {
    MacroFunction.Definition caller =
        definition("caller", block.signature(), block.body(), block.height());
    Eval callee = eval(block.call().callee());
    ArgumentsEval arguments = new ArgumentsEval(block.call().arguments(), expressions());
    return (frame, out) -> {
      MacroFunction function = new MacroFunction(caller, frame);
      CallArguments given = arguments.eval(frame).with("caller", function);
      Object result = ArgumentsEval.call(frame, callee.eval(frame), given);
      out.append(Text.of(frame.budget(), result));
      frame.budget().output(out.length());
      return Exec.Exit.NORMAL;
    };
  }

  /** What a block writes, as a value; its variables are its own. */
  private Eval captured(Statement.AssignBlock block) {
    Scope inner = scope.inner().declareAll(block.body());
    Exec body = fresh(inner, body(block.body(), inner));
    Eval text =
        frame -> {
          Output out = new Output();
          body.run(frame, out);
          frame.budget().text(out.length());
          return out.toString();
        };
    Expression.Filter filter = block.filter();
    return filter == null ? text : expressions().chain(filter, text);
  }

  private Exec assign(Expression to, Eval value) {
    Targets.Target target = Targets.of(to, scope);
    return (frame, out) -> {
      target.assign(frame, value.eval(frame));
      return Exec.Exit.NORMAL;
    };
  }

  /**
   * A compiled loop. Its variables begin anew with each turn. As in Jinja2, {@code else} runs when
   * no turn came to its end.
   *
   * @param loopSlot where {@code loop} goes; -1 when nothing asks for it
   */
  private record ForLoop(
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

  /** Compiled targets of assignments. */
  private static final class Targets {

    private Targets() {}

    /** Stores a value. */
    interface Target {
      void assign(Frame frame, Object value);
    }

    static Target of(Expression target, Scope scope) {
      if (target instanceof Expression.Name name) {
        int slot = scope.declare(name.name());
        return (frame, value) -> frame.set(slot, value);
      }
      if (target instanceof Expression.NamespaceTarget namespace) {
        return attribute(scope.reader(namespace.namespace()), namespace.attribute());
      }
      Expression.Sequence sequence = (Expression.Sequence) target;
      List<Target> parts = sequence.items().stream().map(item -> of(item, scope)).toList();
      return (frame, value) -> unpack(frame, value, parts);
    }

    private static Target attribute(Eval owner, String attribute) {
      return (frame, value) -> {
        if (!(owner.eval(frame) instanceof Namespace namespace)) {
          throw TemplateException.raised("cannot assign attribute on non-namespace object");
        }
        namespace.attributes().put(attribute, value);
      };
    }

    private static void unpack(Frame frame, Object value, List<Target> parts) {
      List<Object> values = Iteration.toList(frame.budget(), value);
      if (values.size() != parts.size()) {
        throw TemplateException.raised(
            values.size() > parts.size()
                ? "too many values to unpack (expected " + parts.size() + ")"
                : "not enough values to unpack (expected " + parts.size() + ")");
      }
      for (int i = 0; i < parts.size(); i++) {
        parts.get(i).assign(frame, values.get(i));
      }
    }
  }
}
