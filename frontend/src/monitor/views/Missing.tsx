import { Head } from "../parts/Head";
import { t } from "../texts";

export function MissingView() {
  return (
    <>
      <Head title={t.missing.title} />
      <p>
        {t.missing.what} <a href="/monitor">{t.missing.home}</a>
      </p>
    </>
  );
}
