package dev.warmpath.tokenizer.template.tree;

/** One answer per kind of {@link Expression}. Confined to its thread. */
public interface ExpressionVisitor<R> {
  R name(Expression.Name name);

  R constant(Expression.Constant constant);

  R sequence(Expression.Sequence sequence);

  R dict(Expression.Dict dict);

  R unary(Expression.Unary unary);

  R binary(Expression.Binary binary);

  R concatenation(Expression.Concatenation concatenation);

  R comparison(Expression.Comparison comparison);

  R conditional(Expression.Conditional conditional);

  R attribute(Expression.Attribute attribute);

  R item(Expression.Item item);

  R slice(Expression.Slice slice);

  R call(Expression.Call call);

  R filter(Expression.Filter filter);

  R test(Expression.Test test);
}
