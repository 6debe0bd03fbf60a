package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.value.Arithmetic;
import dev.warmpath.tokenizer.template.value.Text;
import dev.warmpath.tokenizer.template.value.Values;
import org.jspecify.annotations.Nullable;

/** Expressions that are mostly written out at once, without a text in between. */
final class Joining {

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
