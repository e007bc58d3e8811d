#include "model/syntax/parser.h"

#include "model/syntax/parse_statement.h"

namespace fettle::model {
namespace {

class FileParser : public StatementParser {
 public:
  using StatementParser::StatementParser;

  Result<Unit> file() {
    if (sees(Token::long_string))
      ++at_;
    while (!sees(Token::end_of_file) || error_)
      TRY(top_statement());
    Unit unit;
    unit.entities = keep(entities_);
    unit.relations = keep(relations_);
    unit.implementations = keep(implementations_);
    unit.implements = keep(implements_);
    unit.typedefs = keep(typedefs_);
    unit.indexes = keep(indexes_);
    unit.imports = keep(imports_);
    unit.body = make_block(body_);
    return unit;
  }

 private:
  Status top_statement() {
    switch (now().token) {
      case Token::word_entity:
        return entity();
      case Token::word_implement:
        return implement();
      case Token::word_implementation:
        return implementation();
      case Token::word_typedef:
        return type_definition();
      case Token::word_index:
        return index();
      case Token::word_import:
        return import();
      default:
        break;
    }
    if (starts_relation())
      return relation();
    body_.push_back(TRY(statement()));
    return {};
  }

  /// `a::B.c` can only be a relation.
  bool starts_relation() const {
    size_t ahead = at_;
    while (tokens_[ahead].token == Token::id && tokens_[ahead + 1].token == Token::separator)
      ahead += 2;
    return tokens_[ahead].token == Token::cid && tokens_[ahead + 1].character == '.';
  }

  Result<QualifiedName> class_reference() {
    const Place at = now().at;
    std::string space;
    while (sees(Token::id)) {
      if (!space.empty())
        space += "::";
      space += now().text;
      ++at_;
      if (sees('.'))
        return fail_at(at, wrong_separator(space, next().text, at));
      TRY(expect(Token::separator));
    }
    if (!sees(Token::cid))
      return space.empty() ? error_behind_word() : syntax_error();
    const Symbol name = symbols_.intern(now().text);
    ++at_;
    return QualifiedName{arena_.copy(std::string_view(space)), name, at};
  }

  void skip_documentation() {
    if (sees(Token::long_string))
      ++at_;
  }

  Error small_entity() const {
    return fail(cat("Syntax error: Invalid identifier: Entity names must start with a capital (",
                    exactly(now().at), ")"));
  }

  Status entity() {
    EntityDefinition made;
    ++at_;
    made.at = now().at;
    if (!sees(Token::cid)) {
      return sees(Token::id) ? small_entity() : syntax_error();
    }
    made.name = symbols_.intern(now().text);
    TRY(refuse_hyphen(made.name, made.at));
    ++at_;
    std::vector<QualifiedName> parents;
    if (sees(Token::word_extends)) {
      do {
        ++at_;
        if (sees(Token::id) && (next().character == ':' || next().character == ','))
          return small_entity();
        parents.push_back(TRY(class_reference()));
      } while (sees(','));
    }
    TRY(expect(':'));
    skip_documentation();
    std::vector<AttributeDefinition> attributes;
    while (!sees(Token::word_end))
      attributes.push_back(TRY(attribute()));
    ++at_;
    made.parents = keep(parents);
    made.attributes = keep(attributes);
    entities_.push_back(arena_.make<EntityDefinition>(made));
    return {};
  }

  Result<AttributeDefinition> attribute() {
    AttributeDefinition made;
    const bool is_dict = sees(Token::word_dict);
    if (is_dict) {
      made.type.name = {{}, symbols_.intern("dict"), now().at};
      ++at_;
    } else {
      made.type.name = TRY(namespace_reference());
      if (sees('[')) {
        ++at_;
        TRY(expect(']'));
        made.type.is_list = true;
      }
    }
    if (sees('?')) {
      ++at_;
      made.type.is_nullable = true;
    }
    made.at = now().at;
    if (sees(Token::cid))
      return fail(
          cat("Syntax error: Invalid identifier: attribute names must start with a lower case "
              "character (",
              exactly(now().at), ")"));
    made.name = TRY(identifier());
    if (!sees('='))
      return made;
    ++at_;
    if (sees(Token::word_undef) && !is_dict) {
      ++at_;
      made.removes_default = true;
      return made;
    }
    made.initial = TRY(is_dict ? initial_dict(made) : initial());
    return made;
  }

  /// A dict, or null when the type allows it.
  Result<const Expr*> initial_dict(const AttributeDefinition& made) {
    if (!sees('{') && !sees(Token::word_null))
      return syntax_error();
    if (sees(Token::word_null) && !made.type.is_nullable)
      return fail_at(made.at, cat("Syntax error: null can not be assigned to dict, did you mean "
                                  "\"dict? ",
                                  symbols_.name(made.name), " = null\" (", exactly(made.at), ")"));
    return operand();
  }

  /// A constant, or a list of constants.
  Result<const Expr*> initial() {
    if (sees(Token::id) || sees(Token::cid) || sees('(') || sees('{'))
      return syntax_error();
    if (!sees('['))
      return operand();
    for (size_t ahead = at_ + 1; tokens_[ahead].character != ']'; ++ahead)
      if (tokens_[ahead].token == Token::id || tokens_[ahead].token == Token::cid ||
          tokens_[ahead].character == '[' || tokens_[ahead].character == '{' ||
          tokens_[ahead].token >= Token::word_typedef || ahead + 1 == tokens_.size()) {
        const bool is_constant = tokens_[ahead].token == Token::word_true ||
                                 tokens_[ahead].token == Token::word_false ||
                                 tokens_[ahead].token == Token::word_null;
        if (is_constant)
          continue;
        at_ = ahead;
        return syntax_error();
      }
    return operand();
  }

  Result<Multiplicity> multiplicity() {
    TRY(expect('['));
    Multiplicity made;
    bool has_lower = false;
    if (sees(Token::integer)) {
      made.lower = made.upper = TRY(count());
      has_lower = true;
    }
    if (sees(':')) {
      ++at_;
      made.upper = unlimited;
      if (sees(Token::integer))
        made.upper = TRY(count());
      else if (!has_lower)
        return syntax_error();
    } else if (!has_lower) {
      return syntax_error();
    }
    if (made.upper < made.lower)
      return fail(cat("Syntax error: the upper bound of a multiplicity is below its lower bound (",
                      exactly(now().at), ")"));
    TRY(expect(']'));
    return made;
  }
  Result<uint32_t> count() {
    uint64_t number = 0;
    for (const char c : now().text)
      if (c >= '0' && c <= '9')
        number = std::min<uint64_t>(number * 10 + static_cast<uint64_t>(c - '0'), unlimited);
    const bool is_negative = now().text.starts_with('-');
    ++at_;
    return is_negative ? 0 : static_cast<uint32_t>(number);
  }

  Status relation() {
    RelationDefinition made;
    made.left = TRY(class_reference());
    TRY(expect('.'));
    made.left_at = now().at;
    made.left_name = TRY(identifier());
    made.left_count = TRY(multiplicity());
    std::vector<const Expr*> annotations;
    if (sees(Token::arrow)) {
      ++at_;
    } else {
      annotations.push_back(TRY(operand()));
      while (sees(',')) {
        ++at_;
        annotations.push_back(TRY(operand()));
      }
    }
    made.annotations = keep(annotations);
    made.right = TRY(class_reference());
    made.right_at = made.right.at;
    if (sees('.')) {
      ++at_;
      made.has_inverse = true;
      made.right_at = now().at;
      made.right_name = TRY(identifier());
      made.right_count = TRY(multiplicity());
    }
    skip_documentation();
    relations_.push_back(arena_.make<RelationDefinition>(made));
    return {};
  }

  Status implementation() {
    ImplementationDefinition made;
    ++at_;
    made.at = now().at;
    made.name = TRY(identifier());
    TRY(expect(Token::word_for));
    made.entity = TRY(class_reference());
    TRY(expect(':'));
    skip_documentation();
    made.body = TRY(block());
    TRY(expect(Token::word_end));
    implementations_.push_back(arena_.make<ImplementationDefinition>(made));
    return {};
  }

  static bool is_true(const Expr* condition) {
    if (condition->kind != ExprKind::constant)
      return false;
    const Datum& value = as<Constant>(condition).value;
    return value.tag == Tag::boolean && value.boolean;
  }
  std::string text_of(const QualifiedName& name) const {
    return cat(name.space, name.space.empty() ? "" : "::", symbols_.name(name.name));
  }

  Status implement() {
    ImplementDefinition made;
    made.at = now().at;
    ++at_;
    made.entity = TRY(class_reference());
    TRY(expect(Token::word_using));
    std::vector<QualifiedName> names;
    while (true) {
      if (sees(Token::word_parents)) {
        made.uses_parents = true;
        ++at_;
      } else {
        names.push_back(TRY(namespace_reference()));
      }
      if (!sees(','))
        break;
      ++at_;
    }
    made.implementations = keep(names);
    if (sees(Token::word_when)) {
      ++at_;
      made.condition = TRY(expression());
      if (made.uses_parents && !is_true(made.condition))
        return fail_at(made.entity.at,
                       cat("Conditional implementation with parents not allowed (reported in "
                           "Implement(",
                           text_of(made.entity), ") (", exactly(made.entity.at), "))"));
    }
    skip_documentation();
    implements_.push_back(arena_.make<ImplementDefinition>(made));
    return {};
  }

  /// Models of old had `typedef Short as Long(a=1)`.
  Status default_constructor() {
    const Place at = now().at;
    ++at_;
    TRY(expect(Token::word_as));
    TRY(class_reference());
    TRY(expect('('));
    return fail(cat("Syntax error: The use of default constructors is no longer supported (",
                    exactly(at), ")"));
  }

  Status type_definition() {
    TypedefDefinition made;
    ++at_;
    made.at = now().at;
    if (sees(Token::cid))
      return default_constructor();
    made.name = TRY(identifier());
    TRY(expect(Token::word_as));
    made.base = TRY(namespace_reference());
    if (sees(Token::regex)) {
      const Lexeme token = now();
      ++at_;
      made.condition = TRY(regex(token));
    } else {
      TRY(expect(Token::word_matching));
      made.condition = TRY(expression());
    }
    skip_documentation();
    typedefs_.push_back(arena_.make<TypedefDefinition>(made));
    return {};
  }

  Status index() {
    IndexDefinition made;
    made.at = now().at;
    ++at_;
    made.entity = TRY(class_reference());
    TRY(expect('('));
    std::vector<Symbol> attributes;
    std::vector<Place> places;
    while (true) {
      places.push_back(now().at);
      attributes.push_back(TRY(identifier()));
      if (!sees(','))
        break;
      ++at_;
    }
    TRY(expect(')'));
    made.attributes = keep(attributes);
    made.places = keep(places);
    indexes_.push_back(arena_.make<IndexDefinition>(made));
    return {};
  }

  Status import() {
    ImportDefinition made;
    made.at = now().at;
    ++at_;
    const QualifiedName module = TRY(namespace_reference());
    made.module =
        module.space.empty()
            ? std::string_view(symbols_.name(module.name))
            : arena_.copy(std::string_view(cat(module.space, "::", symbols_.name(module.name))));
    if (sees(Token::word_as)) {
      ++at_;
      made.alias = TRY(identifier());
      made.has_alias = true;
    }
    imports_.push_back(arena_.make<ImportDefinition>(made));
    return {};
  }

  std::vector<const EntityDefinition*> entities_;
  std::vector<const RelationDefinition*> relations_;
  std::vector<const ImplementationDefinition*> implementations_;
  std::vector<const ImplementDefinition*> implements_;
  std::vector<const TypedefDefinition*> typedefs_;
  std::vector<const IndexDefinition*> indexes_;
  std::vector<const ImportDefinition*> imports_;
  std::vector<const Stmt*> body_;
};

}  // namespace

Result<Unit> parse(std::string_view file_name, std::string_view text, uint32_t file, Arena& arena,
                   Symbols& symbols, const Warn& warn) {
  Tokens tokens = TRY(read_tokens(file_name, text, file));
  return FileParser(file_name, text, std::move(tokens), arena, symbols, warn).file();
}

}  // namespace fettle::model
