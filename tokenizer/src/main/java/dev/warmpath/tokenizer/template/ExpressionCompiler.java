package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.builtin.Filters;
import dev.warmpath.tokenizer.template.builtin.Members;
import dev.warmpath.tokenizer.template.builtin.Method;
import dev.warmpath.tokenizer.template.builtin.StringMethods;
import dev.warmpath.tokenizer.template.builtin.Tests;
import dev.warmpath.tokenizer.template.syntax.Arguments;
import dev.warmpath.tokenizer.template.syntax.Expression;
import dev.warmpath.tokenizer.template.syntax.Operator;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.Unsupported;
import dev.warmpath.tokenizer.template.value.Arithmetic;
import dev.warmpath.tokenizer.template.value.CallArguments;
import dev.warmpath.tokenizer.template.value.Callable;
import dev.warmpath.tokenizer.template.value.Indexing;
import dev.warmpath.tokenizer.template.value.PythonComparison;
import dev.warmpath.tokenizer.template.value.Text;
import dev.warmpath.tokenizer.template.value.Tuple;
import dev.warmpath.tokenizer.template.value.Undefined;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns expressions into something that runs, with names, methods, filters and tests looked up
 * beforehand.
 *
 * <p>Confined to the thread that compiles.
 */
final class ExpressionCompiler {
  private static final Undefined NO_ELSE =
      Undefined.because("the inline if-expression evaluated to false and has no else section");

  private final Scope scope;
  private final boolean lenient;

  /**
   * For expressions of a scope.
   *
   * @param lenient whether an unknown filter or test fails only when it is reached, as it does
   *     within {@code if}
   */
  ExpressionCompiler(Scope scope, boolean lenient) {
    this.scope = scope;
    this.lenient = lenient;
  }

  Eval compile(Expression expression) {
    if (expression instanceof Expression.Name name) {
      return scope.reader(name.name());
    } else if (expression instanceof Expression.Constant constant) {
      Object value = Values.of(constant.value());
      return frame -> value;
    } else if (expression instanceof Expression.Concatenation it) {
      return new Joining.Concatenation(all(it.items()));
    } else if (expression instanceof Expression.Sequence it) {
      return sequence(it);
    } else if (expression instanceof Expression.Dict it) {
      return dict(it);
    } else if (expression instanceof Expression.Unary it) {
      return unary(it);
    } else if (expression instanceof Expression.Binary it) {
      return binary(it);
    } else if (expression instanceof Expression.Comparison it) {
      return comparison(it);
    } else if (expression instanceof Expression.Conditional it) {
      return conditional(it);
    } else if (expression instanceof Expression.Attribute it) {
      return attribute(it);
    } else if (expression instanceof Expression.Item it) {
      return item(it);
    } else if (expression instanceof Expression.Call it) {
      return call(it);
    } else if (expression instanceof Expression.Filter it) {
      return filter(it);
    } else if (expression instanceof Expression.Test it) {
      return test(it);
    }
    TemplateException refusal = TemplateException.unsupported("a slice among other indexes");
    return frame -> {
      throw refusal;
    };
  }

  @Nullable Eval orNull(@Nullable Expression expression) {
    return expression == null ? null : compile(expression);
  }

  Eval[] all(List<Expression> expressions) {
    return expressions.stream().map(this::compile).toArray(Eval[]::new);
  }

  private Eval sequence(Expression.Sequence sequence) {
    Eval[] items = all(sequence.items());
    boolean isTuple = sequence.isTuple();
    return frame -> {
      List<Object> values = new ArrayList<>(items.length);
      for (Eval item : items) {
        values.add(item.eval(frame));
      }
      frame.budget().elements(items.length);
      return isTuple ? Tuple.copyOf(values) : values;
    };
  }

  private Eval dict(Expression.Dict dict) {
    Eval[] keys = all(dict.keys());
    Eval[] values = all(dict.values());
    return frame -> {
      Map<@Nullable Object, Object> map = new LinkedHashMap<>();
      for (int i = 0; i < keys.length; i++) {
        put(map, keys[i].eval(frame), values[i].eval(frame));
      }
      frame.budget().elements(keys.length);
      return map;
    };
  }

  /** A key stays as it was first written; one of another type than its like cannot be kept. */
  private static void put(Map<@Nullable Object, Object> map, Object key, Object value) {
    Object found = PythonComparison.key(key);
    if (found instanceof Long && !(key instanceof Long) && !map.containsKey(found)) {
      throw TemplateException.unsupported(Values.typeName(key) + " as a key");
    }
    map.put(found, value);
  }

  private Eval unary(Expression.Unary unary) {
    Eval operand = compile(unary.operand());
    return switch (unary.operator()) {
      case NOT -> frame -> !Values.isTrue(operand.eval(frame));
      case SUBTRACT -> frame -> Arithmetic.negated(operand.eval(frame));
      default -> frame -> Arithmetic.positive(operand.eval(frame));
    };
  }

  private Eval binary(Expression.Binary binary) {
    Operator operator = binary.operator();
    if (operator == Operator.ADD) {
      return new Joining.Sum(all(terms(binary)));
    }
    Eval left = compile(binary.left());
    Eval right = compile(binary.right());
    return switch (operator) {
      case AND ->
          frame -> {
            Object first = left.eval(frame);
            return Values.isTrue(first) ? right.eval(frame) : first;
          };
      case OR ->
          frame -> {
            Object first = left.eval(frame);
            return Values.isTrue(first) ? first : right.eval(frame);
          };
      default ->
          frame -> Arithmetic.apply(frame.budget(), operator, left.eval(frame), right.eval(frame));
    };
  }

  /** The terms of a sum of sums on the left. */
  private static List<Expression> terms(Expression.Binary sum) {
    List<Expression> terms = new ArrayList<>();
    Expression left = sum;
    while (left instanceof Expression.Binary binary && binary.operator() == Operator.ADD) {
      terms.add(0, binary.right());
      left = binary.left();
    }
    terms.add(0, left);
    return terms;
  }

  private Eval comparison(Expression.Comparison comparison) {
    Eval first = compile(comparison.first());
    Eval[] others = all(comparison.operands());
    Operator[] operators = comparison.operators().toArray(Operator[]::new);
    if (others.length > 1) {
      return frame -> chained(frame, first, operators, others);
    }
    Operator operator = operators[0];
    Eval second = others[0];
    return frame ->
        PythonComparison.test(frame.budget(), operator, first.eval(frame), second.eval(frame));
  }

  private static boolean chained(Frame frame, Eval first, Operator[] operators, Eval[] others) {
    Object left = first.eval(frame);
    for (int i = 0; i < others.length; i++) {
      Object right = others[i].eval(frame);
      if (!PythonComparison.test(frame.budget(), operators[i], left, right)) {
        return false;
      }
      left = right;
    }
    return true;
  }

  private Eval conditional(Expression.Conditional conditional) {
    ExpressionCompiler inner = new ExpressionCompiler(scope, true);
    Eval test = inner.compile(conditional.test());
    Eval value = inner.compile(conditional.value());
    Eval given = inner.orNull(conditional.otherwise());
    Eval otherwise = given == null ? frame -> NO_ELSE : given;
    return new Joining.Choice(test, value, otherwise);
  }

  private Eval attribute(Expression.Attribute attribute) {
    Eval target = compile(attribute.target());
    String name = attribute.name();
    return frame -> Members.attribute(frame.budget(), target.eval(frame), name);
  }

  private Eval item(Expression.Item item) {
    Eval target = compile(item.target());
    if (item.index() instanceof Expression.Slice slice) {
      return slice(target, slice);
    }
    Eval index = compile(item.index());
    return frame -> Members.item(frame.budget(), target.eval(frame), index.eval(frame));
  }

  private Eval slice(Eval target, Expression.Slice slice) {
    Eval start = orNull(slice.start());
    Eval stop = orNull(slice.stop());
    Eval step = orNull(slice.step());
    return frame -> {
      Object value = target.eval(frame);
      Object from = start == null ? null : start.eval(frame);
      Object to = stop == null ? null : stop.eval(frame);
      Object by = step == null ? null : step.eval(frame);
      return Indexing.slice(frame.budget(), value, from, to, by);
    };
  }

  private Eval call(Expression.Call call) {
    ArgumentsEval arguments = new ArgumentsEval(call.arguments(), this);
    if (call.callee() instanceof Expression.Attribute attribute) {
      return methodCall(attribute, arguments);
    }
    Eval callee = compile(call.callee());
    return frame -> ArgumentsEval.call(frame, callee.eval(frame), arguments.eval(frame));
  }

  private Eval methodCall(Expression.Attribute attribute, ArgumentsEval arguments) {
    Eval target = compile(attribute.target());
    String name = attribute.name();
    Method<String> ofText = StringMethods.find(name);
    Method<Map<?, ?>> ofDict = Members.dictMethod(name);
    return frame -> {
      Object owner = target.eval(frame);
      if (ofText != null && owner instanceof String s) {
        frame.budget().step();
        return ofText.call(frame.budget(), s, arguments.eval(frame));
      }
      if (ofDict != null && owner instanceof Map<?, ?> map) {
        frame.budget().step();
        return ofDict.call(frame.budget(), map, arguments.eval(frame));
      }
      Object callee = Members.attribute(frame.budget(), owner, name);
      return ArgumentsEval.call(frame, callee, arguments.eval(frame));
    };
  }

  private Eval filter(Expression.Filter filter) {
    Expression operand = filter.operand();
    if (operand == null) {
      throw new IllegalStateException("filter=" + filter.name() + " has no operand");
    }
    return filtered(filter, compile(operand));
  }

  /** A chain of filters whose innermost one gets this operand. */
  Eval chain(Expression.Filter filter, Eval body) {
    Eval operand = filter.operand() instanceof Expression.Filter inner ? chain(inner, body) : body;
    return filtered(filter, operand);
  }

  private Eval filtered(Expression.Filter filter, Eval operand) {
    return applied(
        Filters.find(filter.name()), "filter", filter.name(), operand, filter.arguments());
  }

  private Eval test(Expression.Test test) {
    Eval operand = compile(test.operand());
    return applied(Tests.find(test.name()), "test", test.name(), operand, test.arguments());
  }

  private Eval applied(
      @Nullable Method<Object> method, String kind, String name, Eval operand, Arguments given) {
    if (method == null) {
      TemplateException unknown =
          TemplateException.syntax("No " + kind + " named '" + name + "'.", 0);
      if (!lenient) {
        throw unknown;
      }
      return frame -> {
        throw TemplateException.raised(unknown.bareMessage());
      };
    }
    ArgumentsEval arguments = new ArgumentsEval(given, this);
    return frame -> {
      Object value = operand.eval(frame);
      frame.budget().step();
      return method.call(frame.budget(), value, arguments.eval(frame));
    };
  }

  /** Expressions that are mostly written out at once, without a text in between. */
  private static final class Joining {

    private Joining() {}

    /** {@code a + b + …}. */
    static final class Sum implements Eval {
      private final Eval[] terms;

      Sum(Eval[] terms) {
        this.terms = terms;
      }

      @Override
      public Object eval(Frame frame) {
        Object first = terms[0].eval(frame);
        if (terms.length == 2 || !(first instanceof String)) {
          return added(frame, first, 1);
        }
        Output out = new Output();
        Object odd = join(frame, first, out);
        return odd == null ? out.toString() : odd;
      }

      @Override
      public void write(Frame frame, Output out) {
        int start = out.length();
        Object odd = join(frame, terms[0].eval(frame), out);
        if (odd != null) {
          out.cut(start);
          out.append(Text.of(frame.budget(), odd));
        }
      }

      /** Writes the sum as long as all terms are text; else gives the sum back. */
      private @Nullable Object join(Frame frame, Object first, Output out) {
        if (!(first instanceof String text)) {
          return added(frame, first, 1);
        }
        int start = out.length();
        out.append(text);
        for (int i = 1; i < terms.length; i++) {
          Object term = terms[i].eval(frame);
          if (!(term instanceof String s)) {
            Object sum = Arithmetic.add(frame.budget(), out.from(start), term);
            return added(frame, sum, i + 1);
          }
          frame.budget().text(s.length());
          frame.budget().output(out.length());
          out.append(s);
        }
        return null;
      }

      private Object added(Frame frame, Object first, int from) {
        Object sum = first;
        for (int i = from; i < terms.length; i++) {
          sum = Arithmetic.add(frame.budget(), sum, terms[i].eval(frame));
        }
        return sum;
      }
    }

    /** {@code a ~ b ~ …}. */
    static final class Concatenation implements Eval {
      private final Eval[] items;

      Concatenation(Eval[] items) {
        this.items = items;
      }

      @Override
      public Object eval(Frame frame) {
        Output out = new Output();
        write(frame, out);
        return out.toString();
      }

      @Override
      public void write(Frame frame, Output out) {
        for (Eval item : items) {
          int before = out.length();
          item.write(frame, out);
          frame.budget().built(out.length() - before);
          frame.budget().output(out.length());
        }
      }
    }

    /** {@code value if test else otherwise}. */
    record Choice(Eval test, Eval value, Eval otherwise) implements Eval {
      @Override
      public Object eval(Frame frame) {
        return Values.isTrue(test.eval(frame)) ? value.eval(frame) : otherwise.eval(frame);
      }

      @Override
      public void write(Frame frame, Output out) {
        (Values.isTrue(test.eval(frame)) ? value : otherwise).write(frame, out);
      }
    }
  }

  /** The compiled arguments of a call. */
  static final class ArgumentsEval {
    private final Eval[] positional;
    private final String[] names;
    private final Eval[] values;
    private final @Nullable TemplateException refusal;

    ArgumentsEval(Arguments arguments, ExpressionCompiler compiler) {
      positional = compiler.all(arguments.positional());
      names = arguments.keywords().stream().map(Arguments.Keyword::name).toArray(String[]::new);
      values = compiler.all(arguments.keywords().stream().map(Arguments.Keyword::value).toList());
      String star = arguments.star();
      refusal = star == null ? null : Unsupported.ARGUMENT.of(star);
    }

    CallArguments eval(Frame frame) {
      if (refusal != null) {
        throw refusal;
      }
      if (positional.length == 0 && names.length == 0) {
        return CallArguments.NONE;
      }
      Object[] given = new Object[positional.length];
      for (int i = 0; i < given.length; i++) {
        given[i] = positional[i].eval(frame);
      }
      return new CallArguments(given, keywords(frame));
    }

    private Map<String, Object> keywords(Frame frame) {
      if (names.length == 0) {
        return Map.of();
      }
      Map<String, Object> keywords = new LinkedHashMap<>();
      for (int i = 0; i < names.length; i++) {
        if (keywords.put(names[i], values[i].eval(frame)) != null) {
          throw TemplateException.raised("got multiple values for argument '" + names[i] + "'");
        }
      }
      return keywords;
    }

    /** Calls a value, if it can be called. */
    static Object call(Frame frame, Object callee, CallArguments arguments) {
      frame.budget().step();
      if (callee instanceof Callable callable) {
        return callable.call(frame.budget(), arguments);
      }
      if (callee instanceof Undefined undefined) {
        throw undefined.failure();
      }
      throw TemplateException.raised("'" + Values.typeName(callee) + "' object is not callable");
    }
  }
}
